/** One row of the table of warnings. */

/** The meaning of a code and its fix, in one or more sentences each. */
export interface WarningEntry {
  readonly meaning: string;
  readonly fix: string;
}

/** An entry of the table. */
export function warns(meaning: string, fix: string): WarningEntry {
  return { meaning, fix };
}
