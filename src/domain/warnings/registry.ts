/** Every code of a warning that a user can meet. docs/errors.md is made of it; programs load only its types. */

import { ENDING_WARNINGS } from './at-the-end.ts';
import { EARLY_WARNINGS } from './before.ts';
import { TREE_WARNINGS } from './in-the-work-tree.ts';
import { PUBLISHING_WARNINGS } from './publishing.ts';
import { RUNNING_WARNINGS } from './under-way.ts';

/** The codes by area, in the order of the page. */
export const WARNING_AREAS = {
  'Warnings before the work': EARLY_WARNINGS,
  'Warnings during a run': RUNNING_WARNINGS,
  'Warnings about the work tree': TREE_WARNINGS,
  'Warnings at the end of a run': ENDING_WARNINGS,
  'Warnings of publishing': PUBLISHING_WARNINGS,
} as const;

/** The codes in one table. */
export const WARNINGS = {
  ...EARLY_WARNINGS,
  ...RUNNING_WARNINGS,
  ...TREE_WARNINGS,
  ...ENDING_WARNINGS,
  ...PUBLISHING_WARNINGS,
} as const;

/** A code, such as `WARN_NO_SANDBOX`. It never changes its meaning, and is never used again. */
export type WarningCode = keyof typeof WARNINGS;
