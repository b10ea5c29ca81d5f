/** One row of the table of errors. */

import type { OutcomeName } from '../run/exit-code.ts';

/** What a code means and what to do, in one or more sentences, and how a command ends with it. */
export interface ErrorEntry<Outcome extends OutcomeName = OutcomeName> {
  readonly outcome: Outcome;
  readonly text: string;
}

/** An entry, with the outcome as its type: only the constructor of that outcome takes the code. */
export function ends<Outcome extends OutcomeName>(outcome: Outcome, text: string): ErrorEntry<Outcome> {
  return { outcome, text };
}

/** The entry of something that is wrong with what a command was given or found. */
export function misuse(text: string): ErrorEntry<'usage_error'> {
  return ends('usage_error', text);
}
