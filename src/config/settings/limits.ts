/** What a run may use up and change. */

import { DEFAULT_CHANGE_LIMITS } from '../../domain/run/change-limits.ts';
import { duration, size, usd, wholeNumber } from '../values/amounts.ts';
import { about } from './setting.ts';

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Limits. */
export const LIMIT_SETTINGS = {
  maxIterations: wholeNumber(1).default(25).register(about, {
    flag: 'max-iterations', value: 'N', group: 'Limits', file: 'lower', alsoFor: ['resume'], help: 'Maximum number of model turns' }),
  maxTotalTokens: wholeNumber(1).nullable().default(null).register(about, {
    flag: 'max-total-tokens', value: 'N', group: 'Limits', file: 'lower', alsoFor: ['resume'],
    help: 'Maximum tokens of the whole run: input, output and cached together', defaultHelp: 'no limit' }),
  maxCostUsd: usd().nullable().default(null).register(about, {
    flag: 'max-cost-usd', value: 'USD', group: 'Limits', file: 'lower', alsoFor: ['resume'],
    help: 'Maximum cost of the whole run', defaultHelp: 'no limit' }),
  deadlineMs: duration().default(1_800_000).register(about, {
    flag: 'deadline', value: 'TIME', group: 'Limits', file: 'lower', alsoFor: ['resume', 'replay', 'prepare', 'publish'],
    help: 'Wall clock for the whole run, such as 90s, 30m, 1h; plain numbers are seconds' }),
  maxChangedFiles: wholeNumber(1).default(DEFAULT_CHANGE_LIMITS.maxChangedFiles).register(about, {
    flag: 'max-changed-files', value: 'N', group: 'Limits', file: 'lower', alsoFor: ['resume', 'replay'],
    help: 'Maximum number of files a run may change; beyond it, the run ends with a patch of what fits. One folder may have five times as many entries, or 100,000 if that is more' }),
  maxChangedBytes: size().default(DEFAULT_CHANGE_LIMITS.maxChangedBytes).register(about, {
    flag: 'max-changed-size', value: 'SIZE', group: 'Limits', file: 'lower', alsoFor: ['resume', 'replay'],
    help: 'Maximum bytes of changed files that a run records, counting every version of a file' }),
  maxChangedFileBytes: size().default(DEFAULT_CHANGE_LIMITS.maxChangedFileBytes).register(about, {
    flag: 'max-changed-file-size', value: 'SIZE', group: 'Limits', file: 'lower', alsoFor: ['resume', 'replay'],
    help: 'Largest changed file; a larger one, sparse or not, is not read' }),
  fixRounds: wholeNumber(0).default(3).register(about, {
    flag: 'fix-rounds', value: 'N', group: 'Limits', file: 'set', alsoFor: ['resume'],
    help: 'How often the model may try to fix a failed verify command' }),
  maxToolOutput: wholeNumber(1_000).default(40_000).register(about, {
    flag: 'max-tool-output', value: 'N', group: 'Limits', file: 'set', alsoFor: ['resume'],
    help: 'Maximum characters of a tool result that the model sees, at least 1000' }),
  maxPrinciplesBytes: wholeNumber(0).default(65_536).register(about, {
    flag: 'max-principles-bytes', value: 'N', group: 'Limits', file: 'lower',
    help: 'Maximum bytes of all principles together' }),
};
