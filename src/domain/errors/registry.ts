/** Every code of an error that a user can meet. docs/errors.md is made of it; programs load only its types. */

import type { OutcomeName } from '../run/exit-code.ts';
import { BEGINNING } from './beginning.ts';
import { COMMAND_LINE } from './command-line.ts';
import { MACHINE } from './machine.ts';
import { PAST_RUNS } from './past-runs.ts';
import { PUBLISHING } from './publishing.ts';
import { RUNNING } from './running.ts';
import { SETTINGS } from './settings.ts';
import { TRUST } from './trust.ts';

/** The codes by area, in the order of the page. */
export const ERROR_AREAS = {
  'The command line and the inputs of the action': COMMAND_LINE,
  Settings: SETTINGS,
  'Before a run begins': BEGINNING,
  'Who started the run, and whose code it is': TRUST,
  'How a run ends': RUNNING,
  'The machine': MACHINE,
  'Past runs': PAST_RUNS,
  Publishing: PUBLISHING,
} as const;

/** The codes in one table. */
export const ERRORS = {
  ...COMMAND_LINE,
  ...SETTINGS,
  ...BEGINNING,
  ...TRUST,
  ...RUNNING,
  ...MACHINE,
  ...PAST_RUNS,
  ...PUBLISHING,
} as const;

/** A code, such as `ERR_NO_TASK`. It never changes its meaning, and is never used again. */
export type ErrorCode = keyof typeof ERRORS;

/** The codes that a command with this outcome can end with. */
export type CodeFor<Outcome extends OutcomeName> = {
  [Code in ErrorCode]: (typeof ERRORS)[Code]['outcome'] extends Outcome ? Code : never;
}[ErrorCode];
