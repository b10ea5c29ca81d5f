/** What a result tells of repositories in the work tree beside its own. */

import type { RunResult } from '../../domain/run/result.ts';
import { listed } from '../../domain/text/listed.ts';
import type { NestedChange } from '../../ports.ts';
import type { Ready } from '../ready.ts';

/** Files and folders of one repository that are named. */
const MAX_NAMED = 100;

/** What the result says of nested repositories. */
export interface NestedPart {
  readonly part: Pick<RunResult, 'nestedChanges'>;
  readonly warnings: readonly string[];
  /** What changed and may not: it cannot be put back, since nothing is kept of such repositories. */
  readonly forbidden: readonly string[];
}

/** Looks at every file of such repositories. */
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

function warningOf(change: NestedChange): string {
  return `Not in the patch, because ${JSON.stringify(change.path)} is a separate repository that changed during the run: ${listed(namedIn(change), 5)}.`;
}
