/** Where a run works, and where it keeps its files. */

import { path, text, yesOrNo } from '../values/text.ts';
import { about } from './setting.ts';

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Repository. */
export const REPOSITORY_SETTINGS = {
  repo: path().nullable().default(null).register(about, {
    flag: 'repo', value: 'DIR', group: 'Repository', file: 'refused', alsoFor: ['resume', 'replay', 'doctor'],
    help: 'Git checkout to work in', defaultHelp: 'the current one' }),
  workingDirectory: path().nullable().default(null).register(about, {
    flag: 'working-directory', value: 'DIR', group: 'Repository', file: 'refused',
    help: 'Read AGENTS.md files from the root down to this folder, relative to the repository',
    defaultHelp: 'the current folder, else the root' }),
  rulesFrom: text().nullable().default(null).register(about, {
    flag: 'rules-from', value: 'COMMIT', group: 'Repository', file: 'refused',
    help: 'Commit of this repository to read project file, principles and plan file from, instead of the work tree',
    defaultHelp: 'the work tree; the base when it holds the pull request of a fork' }),
  runDir: path().nullable().default(null).register(about, {
    flag: 'run-dir', value: 'DIR', group: 'Repository', file: 'refused', alsoFor: ['replay'],
    help: 'Folder for the journal, the result and the patch; outside the repository',
    defaultHelp: 'below RUNNER_TEMP, else the XDG state folder' }),
  keepBase: yesOrNo().default(false).register(about, {
    flag: 'keep-base', group: 'Repository', file: 'refused', alsoFor: ['resume'],
    help: 'Store the whole base in the run directory, so that replay works without the repository' }),
};
