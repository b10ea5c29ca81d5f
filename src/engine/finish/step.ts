/** A step at the end of a run as a value, so that a failing step does not lose what the others produced. */

import { CutShort } from '../../domain/errors/thrown.ts';

/** `cut_short`: time ran out before the step ended. `crashed`: a bug or a broken machine. */
export type StepEnd<T> =
  | { readonly status: 'done'; readonly value: T }
  | { readonly status: 'cut_short' }
  | { readonly status: 'crashed'; readonly error: unknown };

/** Never rejects. */
export async function tryStep<T>(step: () => Promise<T>): Promise<StepEnd<T>> {
  try {
    return { status: 'done', value: await step() };
  } catch (error) {
    return error instanceof CutShort ? { status: 'cut_short' } : { status: 'crashed', error };
  }
}

/** Null when the step did not end. */
export function doneValue<T>(tried: StepEnd<T>): T | null {
  return tried.status === 'done' ? tried.value : null;
}
