/** What every run has to know of the journal's beginning, without the schemas of everything that can be in one. */

/**
 * The journal's format. Version 1 has the whole base in `run.started`; versions 1 and 2 know conversations of one segment only,
 * and are read as such; up to version 3 nobody else is asked to review the work; up to version
 * 4 the hosts that were refused are in the result alone; up to version 5 nothing is changed before the whole base is known. Readers
 * refuse any other version.
 */
export const JOURNAL_VERSION = 6;

/** Whether the tree that changes count from is known. */
export function isTaken<Base extends object>(base: Base): base is Extract<Base, { tree: string }> {
  return 'tree' in base;
}
