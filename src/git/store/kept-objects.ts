/**
 * The objects of an earlier run, for git to read through a git dir of our own: it sees nothing else of the run directory
 * (configuration, refs, hooks, alternates).
 */

import { lstatSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makeRepository } from './bare-repository.ts';
import type { ObjectFormat } from './object-store.ts';

/** Which objects of a run to make readable, and through which git dir. */
export interface KeptObjects {
  /** The shadow repository of the run; it has been validated and is only read. */
  readonly shadowDir: string;
  readonly objectFormat: ObjectFormat;
  /** The object store of a checkout named by the caller, if it has what the run did not store; null for none. */
  readonly objects: string | null;
  /** Made here. */
  readonly gitDir: string;
}

/** Creates the git dir and returns its path. It can be used to read objects, and indexes of the shadow repository. */
export function openKeptObjects({ shadowDir, objectFormat, objects, gitDir }: KeptObjects): string {
  makeRepository({
    gitDir,
    objectFormat,
    alternate: objects,
    head: 'ref: refs/heads/none',
    core: { bare: true, protectHFS: false, protectNTFS: false },
  });
  const kept = join(shadowDir, 'objects');
  for (const name of namesIn(kept)) {
    if (!/^[0-9a-f]{2}$/.test(name)) continue;
    if (lstatSync(join(kept, name)).isDirectory())
      symlinkSync(join(kept, name), join(gitDir, 'objects', name));
  }
  for (const name of namesIn(join(kept, 'pack')))
    if (/^pack-[0-9a-f]+\.(?:pack|idx)$/.test(name))
      symlinkSync(join(kept, 'pack', name), join(gitDir, 'objects/pack', name));
  // A split index names its other part by its place in the git dir.
  for (const name of namesIn(shadowDir))
    if (name.startsWith('sharedindex.')) symlinkSync(join(shadowDir, name), join(gitDir, name));
  return gitDir;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
