/** What a command prints, and what is done with runs that have ended. */

import { SPENDING_GROUPS } from '../../domain/runs.ts';
import { age, since, size } from '../values/amounts.ts';
import { choice, path, yesOrNo } from '../values/text.ts';
import { setting } from './setting.ts';

const OUTPUTS = ['patch', 'json', 'jsonl', 'none'] as const;

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Output. */
export const OUTPUT_SETTINGS = {
  patch: setting(() => path().refine((given) => given !== '-', 'expected a file; --output patch prints the patch'), null, {
    flag: 'patch', value: 'FILE', group: 'Output', file: 'refused', alsoFor: ['resume'],
    help: 'Also write the patch to this file', defaultHelp: 'only changes.patch in the run directory' }),
  output: setting(() => choice(OUTPUTS), 'none', {
    flag: 'output', value: OUTPUTS.join('|'), group: 'Output', file: 'refused', alsoFor: ['resume', 'replay', 'publish', 'doctor'],
    help: 'The document on stdout: the patch, the result, or events as they happen' }),
  dryRun: setting(yesOrNo, false, {
    flag: 'dry-run', group: 'Output', file: 'refused', alsoFor: ['prepare', 'publish'], notFor: 'run',
    help: 'Change nothing, and print what would be done' }),
  quiet: setting(yesOrNo, false, {
    flag: 'quiet', group: 'Output', file: 'refused', alsoFor: ['resume', 'replay', 'prepare', 'publish'], help: 'Only warnings and the last line on stderr' }),
  verbose: setting(yesOrNo, false, {
    flag: 'verbose', group: 'Output', file: 'refused', alsoFor: ['resume', 'replay'],
    help: "The model's text on stderr, after each turn" }),
};

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Old runs. */
export const OLD_RUN_SETTINGS = {
  olderThanMs: setting(age, null, {
    flag: 'older-than', value: 'AGE', group: 'Old runs', file: 'refused',
    help: 'Remove finished runs that were last written to longer ago than this, such as 14d, 36h' }),
  maxTotalBytes: setting(size, 5 * 1024 ** 3, {
    flag: 'max-total-size', value: 'SIZE', group: 'Old runs', file: 'refused', alsoFor: ['run'],
    help: 'Disk space that all runs in the default folder may take together; beyond it, the oldest finished ones are removed, by clean and, once an hour, after a run' }),
  since: setting(since, null, {
    flag: 'since', value: 'AGE|DATE', group: 'Old runs', file: 'refused',
    help: 'Only what was spent or opened since then: 7d, 36h, or a day in UTC such as 2026-11-01', defaultHelp: 'all runs; 30d for an organisation and for outcomes' }),
  by: setting(() => choice(SPENDING_GROUPS), null, {
    flag: 'by', value: SPENDING_GROUPS.join('|'), group: 'Old runs', file: 'refused',
    help: 'Sum by this alone', defaultHelp: 'by each of them' }),
};
