/** Warnings about paths that are not in the patch as they are on disk. */

import type { PathChange } from '../../../domain/changes/change.ts';
import { quotedName } from '../../../domain/changes/path.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import type { ContentSources } from './content-store.ts';
import type { Walked } from './walked-tree.ts';

/** Says which parts of the work tree a walk has left out, or included all the same. */
export function warnOfWalk({ nested, embedded, unstorable }: Walked, warn: ContentSources['warn']): void {
  for (const path of nested)
    warn(
      warning('WARN_REPOSITORY_LEFT_OUT', `${quotedName(path)} is a separate repository and is left out.`),
    );
  for (const path of embedded)
    warn(
      warning(
        'WARN_GIT_FOLDER_INSIDE',
        `${quotedName(path)} has its own git folder; its files are included anyway.`,
      ),
    );
  for (const path of unstorable)
    warn(
      warning(
        'WARN_NAME_NOT_ACCEPTED',
        `${quotedName(path)} has a name that git does not accept and is left out.`,
      ),
    );
}

/** Says which changed files are in the patch otherwise than their filter would have them. */
export async function warnOfFilters(
  changes: readonly PathChange[],
  { conversions, warn }: Pick<ContentSources, 'conversions' | 'warn'>,
): Promise<void> {
  const files = changes.filter(
    ({ after, ignored }) => ignored !== 'from_now' && (after?.mode === '100644' || after?.mode === '100755'),
  );
  if (files.length === 0) return;
  const found = await conversions(files.map(({ path }) => path));
  for (const { path } of files) {
    const filter = found.get(path)?.filter ?? null;
    if (filter === 'lfs') {
      warn(
        warning(
          'WARN_LFS_POINTER',
          `${quotedName(path)} is in the patch as a Git LFS pointer; push its content with git lfs.`,
        ),
      );
    } else if (filter !== null) {
      warn(
        warning(
          'WARN_FILTER_NOT_RUN',
          `${quotedName(path)} is in the patch as it is on disk; its filter ${quotedName(filter)} was not run.`,
        ),
      );
    }
  }
}
