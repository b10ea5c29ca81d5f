/** What every run has to know of the journal's beginning, without the schemas of everything that can be in one. */

/** The version of the journal's format. Readers refuse any other. */
export const JOURNAL_VERSION = 1;
