/**
 * The objects of an earlier run, to be read by git through a git dir of our own: nothing that stands beside the objects in
 * the run directory (configuration, refs, hooks, alternates) is seen by it.
 */

import { lstatSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makeRepository } from './bare-repository.ts';
import type { ObjectFormat } from './object-store.ts';

/** Which objects of a run are to be readable, and through which git dir. */
export interface KeptObjects {
  /** The shadow repository of the run; it has been looked through, and is only read. */
  readonly shadowDir: string;
  readonly objectFormat: ObjectFormat;
  /** The object store of a checkout that the caller has named, where it holds what the run did not keep; null for none. */
  readonly objects: string | null;
  /** Made here. */
  readonly gitDir: string;
}

/** Makes the git dir and returns its path. It is good for reading objects, and indexes of the shadow repository. */
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
  // An index that was split names the other part by its place in the git dir.
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
