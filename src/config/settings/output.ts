/** What a command prints, and what is done with runs that have ended. */

import { SPENDING_GROUPS } from '../../domain/runs/spending.ts';
import { age, since, size } from '../values/amounts.ts';
import { texts } from '../values/lists.ts';
import { choice, path, pathEntry, yesOrNo } from '../values/text.ts';
import { about } from './setting.ts';

const OUTPUTS = ['patch', 'json', 'jsonl', 'none'] as const;

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Output. */
export const OUTPUT_SETTINGS = {
  patch: path().refine((given) => given !== '-', 'expected a file; --output patch prints the patch').nullable().default(null).register(about, {
    flag: 'patch', value: 'FILE', group: 'Output', file: 'refused', alsoFor: ['resume'],
    help: 'Also write the patch to this file', defaultHelp: 'only changes.patch in the run directory' }),
  output: choice(OUTPUTS).default('none').register(about, {
    flag: 'output', value: OUTPUTS.join('|'), group: 'Output', file: 'refused', alsoFor: ['resume', 'replay', 'publish', 'doctor'],
    help: 'The document on stdout: the patch, the result, or events as they happen' }),
  dryRun: yesOrNo().default(false).register(about, {
    flag: 'dry-run', group: 'Output', file: 'refused', alsoFor: ['prepare', 'publish'], notFor: 'run',
    help: 'Change nothing, and print what would be done' }),
  quiet: yesOrNo().default(false).register(about, {
    flag: 'quiet', group: 'Output', file: 'refused', alsoFor: ['resume', 'replay', 'prepare', 'publish'], help: 'Only warnings and the last line on stderr' }),
  verbose: yesOrNo().default(false).register(about, {
    flag: 'verbose', group: 'Output', file: 'refused', alsoFor: ['resume', 'replay'],
    help: "The model's text on stderr, after each turn" }),
};

// biome-ignore format: one setting reads best as one row
/** The settings under the headings Replay and Old runs. */
export const OLD_RUN_SETTINGS = {
  copyIgnored: texts(pathEntry()).default([]).register(about, {
    flag: 'copy-ignored', value: 'PATH', repeatable: true, group: 'Replay', file: 'refused',
    help: 'Ignored file or folder of this checkout to copy into the replay as it is now, such as node_modules', defaultHelp: 'the ignored folders at its top' }),
  olderThanMs: age().nullable().default(null).register(about, {
    flag: 'older-than', value: 'AGE', group: 'Old runs', file: 'refused',
    help: 'Remove finished runs that were last written to longer ago than this, such as 14d, 36h' }),
  maxTotalBytes: size().default(5 * 1024 ** 3).register(about, {
    flag: 'max-total-size', value: 'SIZE', group: 'Old runs', file: 'refused', alsoFor: ['run'],
    help: 'Disk space that all runs in the default folder may take together; beyond it, the oldest finished ones are removed, by clean and, once an hour, after a run' }),
  since: since().nullable().default(null).register(about, {
    flag: 'since', value: 'AGE|DATE', group: 'Old runs', file: 'refused',
    help: 'Only what was spent or opened since then: 7d, 36h, or a day in UTC such as 2026-11-01', defaultHelp: 'all runs; 30d for an organisation and for outcomes' }),
  by: choice(SPENDING_GROUPS).nullable().default(null).register(about, {
    flag: 'by', value: SPENDING_GROUPS.join('|'), group: 'Old runs', file: 'refused',
    help: 'Sum by this alone', defaultHelp: 'by each of them' }),
};
