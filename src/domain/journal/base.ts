/** What every run has to know of the journal's beginning, without the schemas of everything that can be in one. */

/**
 * The journal's format. Versions 1 and 2 know conversations of one segment only, and are read as such; up to version 3 nobody
 * else is asked to review the work; up to version 4 the hosts that were refused are in the result alone. Readers refuse any
 * other version.
 */
export const JOURNAL_VERSION = 6;
