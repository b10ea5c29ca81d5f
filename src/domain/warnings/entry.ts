/** One row of the table of warnings. */

/** What a code means and what to do about it, each a sentence or more for people. */
export interface WarningEntry {
  readonly meaning: string;
  readonly fix: string;
}

/** An entry of the table. */
export function warns(meaning: string, fix: string): WarningEntry {
  return { meaning, fix };
}
