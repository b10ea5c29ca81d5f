/** What a result says about repositories in the work tree other than its own. */

import type { RunResult } from '../../../domain/run/result.ts';
import { listed } from '../../../domain/text/listed.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { NestedChange } from '../../../ports/workspace.ts';
import type { Ready } from '../../ready.ts';

/** Maximum number of files and folders named per repository. */
const MAX_NAMED = 100;

/** What the result says about nested repositories. */
export interface NestedPart {
  readonly part: Pick<RunResult, 'nestedChanges'>;
  readonly warnings: readonly Warning[];
  /** Changes that are not allowed. They cannot be put back, since no contents of such repositories are kept. */
  readonly forbidden: readonly string[];
}

/** Examines every file of such repositories. */
export async function nestedPart({
  workspace,
  permits,
  forbidsBelow,
}: Pick<Ready, 'workspace' | 'permits' | 'forbidsBelow'>): Promise<NestedPart> {
  const changes = await workspace.nestedChanges();
  return {
    part: {
      nestedChanges: changes.map((change) => ({
        path: change.path,
        files: namedIn(change).slice(0, MAX_NAMED),
      })),
    },
    warnings: changes.map(warningOf),
    // A folder whose entries changed may have lost a file that the rules name.
    forbidden: changes.flatMap(({ files, folders }) => [
      ...files.filter((path) => !permits(path)),
      ...folders.filter((path) => !permits(path) || forbidsBelow(path)),
    ]),
  };
}

function namedIn({ files, folders }: NestedChange): string[] {
  return [...files, ...folders].sort();
}

function warningOf(change: NestedChange): Warning {
  return warning(
    'WARN_REPOSITORY_CHANGED',
    `Not in the patch, because ${JSON.stringify(change.path)} is a separate repository that changed during the run: ${listed(namedIn(change), 5)}.`,
  );
}
