/** What a command prints and logs. */

import { choice, path, yesOrNo } from '../values/text.ts';
import { about } from './setting.ts';

const OUTPUTS = ['patch', 'json', 'jsonl', 'none'] as const;
/** How much is logged: pino's levels, or nothing. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Output. */
export const OUTPUT_SETTINGS = {
  patch: path().refine((given) => given !== '-', 'expected a file; --output patch prints the patch').nullable().default(null).register(about, {
    flag: 'patch', value: 'FILE', group: 'Output', file: 'refused', alsoFor: ['resume'],
    help: 'Also write the patch to this file', defaultHelp: 'only changes.patch in the run directory' }),
  output: choice(OUTPUTS).default('none').register(about, {
    flag: 'output', value: OUTPUTS.join('|'), group: 'Output', file: 'refused', alsoFor: ['resume', 'replay', 'publish', 'doctor'],
    help: 'The document on stdout: the patch, the result, or events as they happen' }),
  logLevel: choice(LOG_LEVELS).default('info').register(about, {
    flag: 'log-level', value: LOG_LEVELS.join('|'), group: 'Output', file: 'refused', alsoFor: ['resume', 'replay'],
    help: 'What patchsmith.log in the run directory holds' }),
  logStderr: choice(LOG_LEVELS).default('silent').register(about, {
    flag: 'log-stderr', value: LOG_LEVELS.join('|'), group: 'Output', file: 'refused', alsoFor: ['resume', 'replay'],
    help: 'What of the log is also printed on stderr, one line per event' }),
  dryRun: yesOrNo().default(false).register(about, {
    flag: 'dry-run', group: 'Output', file: 'refused', alsoFor: ['prepare', 'publish'], notFor: 'run',
    help: 'Change nothing, and print what would be done' }),
  quiet: yesOrNo().default(false).register(about, {
    flag: 'quiet', group: 'Output', file: 'refused', alsoFor: ['resume', 'replay', 'prepare', 'publish'], help: 'Only warnings and the last line on stderr' }),
  verbose: yesOrNo().default(false).register(about, {
    flag: 'verbose', group: 'Output', file: 'refused', alsoFor: ['resume', 'replay'],
    help: "The model's text on stderr as it arrives" }),
};
