/** Scans the files that git ignores. */

import { IgnoredFileList, type IgnoredFiles } from '../../../domain/changes/ignored-files.ts';
import { CutShort } from '../../../domain/run/cut-short.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import { findIgnoredChanges, type IgnoredPlaces } from './ignored-changes.ts';

/** As `Workspace.ignoredWrites`. */
export async function ignoredWrites({
  warnings,
  ...places
}: IgnoredPlaces & { readonly warnings: Set<Warning> }): Promise<IgnoredFiles> {
  const names = new IgnoredFileList();
  try {
    await findIgnoredChanges(places, (path) => names.add(path));
    warnings.delete(IGNORED_CUT_SHORT);
  } catch (error) {
    // If time ran out, the files found so far are still worth reporting.
    if (!(error instanceof CutShort)) throw error;
    warnings.add(IGNORED_CUT_SHORT);
  }
  return names.list();
}

const IGNORED_CUT_SHORT = warning(
  'WARN_LOOK_CUT_SHORT',
  'Not all files that git ignores could be checked in time: set-uid bits that commands set may be left on them.',
);
