/** Every code of an error that a user can meet. Only `patchsmith help` loads it; other programs load its types. */

import type { OutcomeName } from '../run/exit-code.ts';
import { BEFORE_A_RUN } from './before-a-run.ts';
import { DURING_AND_AFTER } from './during-and-after.ts';

/** The codes by area, in the order of the page, and by the outcome of a command that ends with them. */
export const ERROR_AREAS = { ...BEFORE_A_RUN, ...DURING_AND_AFTER } satisfies Readonly<
  Record<string, Partial<Record<OutcomeName, Readonly<Record<string, string>>>>>
>;

type Areas = typeof ERROR_AREAS;

/** The codes that a command with this outcome can end with. */
export type CodeFor<Outcome extends OutcomeName> = {
  [Area in keyof Areas]: Outcome extends keyof Areas[Area] ? keyof Areas[Area][Outcome] : never;
}[keyof Areas];

/** A code with how a command ends with it, what it means, and what to do. */
export interface ErrorEntry {
  /** Such as `ERR_NO_TASK`. It never changes its meaning, and is never used again. */
  readonly code: string;
  readonly outcome: OutcomeName;
  readonly text: string;
}

/** The codes of one area. */
export function errorsIn(area: Areas[keyof Areas]): ErrorEntry[] {
  return Object.entries(area).flatMap(([outcome, entries]) =>
    Object.entries<string>(entries).map(([code, text]) => ({ code, outcome: outcome as OutcomeName, text })),
  );
}
