/** One row of the table of errors. */

import type { OutcomeName } from '../run/exit-code.ts';

/** The meaning of a code and its fix, in one or more sentences each, and how a command ends with it. */
export interface ErrorEntry<Outcome extends OutcomeName = OutcomeName> {
  readonly outcome: Outcome;
  readonly meaning: string;
  readonly fix: string;
}

/** An entry, with the outcome as its type: only the constructor of that outcome takes the code. */
export function ends<Outcome extends OutcomeName>(
  outcome: Outcome,
  meaning: string,
  fix: string,
): ErrorEntry<Outcome> {
  return { outcome, meaning, fix };
}

/** The entry of something that is wrong with what a command was given or found. */
export function misuse(meaning: string, fix: string): ErrorEntry<'usage_error'> {
  return ends('usage_error', meaning, fix);
}
