/** What is done with runs that have ended: replaying, summing up, removing. */

import { SPENDING_GROUPS } from '../../domain/runs/spending.ts';
import { age, since, size } from '../values/amounts.ts';
import { texts } from '../values/lists.ts';
import { choice, pathEntry } from '../values/text.ts';
import { about } from './setting.ts';

// biome-ignore format: one setting reads best as one row
/** The settings under the headings Replay and Old runs. */
export const OLD_RUN_SETTINGS = {
  copyIgnored: texts(pathEntry()).default([]).register(about, {
    flag: 'copy-ignored', value: 'PATH', repeatable: true, group: 'Replay', file: 'refused',
    help: 'Ignored file or folder of this checkout to copy into the replay as it is now, such as node_modules', defaultHelp: 'none' }),
  olderThanMs: age().nullable().default(null).register(about, {
    flag: 'older-than', value: 'AGE', group: 'Old runs', file: 'refused',
    help: 'Remove finished runs that were last written to longer ago than this, such as 14d, 36h' }),
  maxTotalBytes: size().default(5 * 1024 ** 3).register(about, {
    flag: 'max-total-size', value: 'SIZE', group: 'Old runs', file: 'refused', alsoFor: ['run'],
    help: 'Disk space that all runs in the default folder may take together; beyond it, the oldest finished ones are removed, by clean and, once an hour, after a run' }),
  since: since().nullable().default(null).register(about, {
    flag: 'since', value: 'AGE|DATE', group: 'Old runs', file: 'refused',
    help: 'Only what was spent since then: 7d, 36h, or a day in UTC such as 2026-11-01', defaultHelp: 'all runs; 30d for an organisation' }),
  by: choice(SPENDING_GROUPS).nullable().default(null).register(about, {
    flag: 'by', value: SPENDING_GROUPS.join('|'), group: 'Old runs', file: 'refused',
    help: 'Sum by this alone', defaultHelp: 'by each of them' }),
};
