/** Completes the base of a run whose directory does not keep all of it: from a repository, and from files as they are now. */

import { closeSync } from 'node:fs';
import { parseRepoPath } from '../../../domain/changes/path.ts';
import { decodeNames } from '../../../files/names.ts';
import { chunksOf, openRegular } from '../../../files/opened-file.ts';
import { viewing } from '../../../files/tree-view.ts';
import { askIn } from '../../../git/git.ts';
import { type ObjectFormat, ObjectStore } from '../../../git/store/object-store.ts';
import { treeEntries } from '../../../git/store/trees.ts';
import { leftOut } from './base-copy.ts';

/** The base to complete, and where to store it. */
export interface IncompleteBase {
  /** The git dir through which objects are read: the run's, the repository's if there is one, and those added here. */
  readonly objectsGitDir: string;
  /** Where those go. */
  readonly takenGitDir: string;
  readonly shadowDir: string;
  readonly tree: string;
  readonly objectFormat: ObjectFormat;
  /** A checkout whose files may be those that are missing; null for none. */
  readonly root: string | null;
}

/** What is still missing; `tree`: not even the names of the files are known. */
export type CompletedBase = { status: 'ok' } | { status: 'tree' } | { status: 'files'; paths: string[] };

/** Contents are accepted by their id only: a file that has changed is not part of the base. */
export async function completeBase({
  objectsGitDir,
  takenGitDir,
  shadowDir,
  tree,
  objectFormat,
  root,
}: IncompleteBase): Promise<CompletedBase> {
  const args = ['rev-list', '--objects', '--no-object-names', '--missing=print', tree];
  const walked = await askIn(objectsGitDir, args);
  if (walked.exitCode !== 0) return { status: 'tree' };
  const missing = new Set(
    [...walked.stdout.toString('latin1').matchAll(/^\?([0-9a-f]+)/gm)].map(([, id = '']) => id),
  );
  if (missing.size === 0) return { status: 'ok' };
  const entries = await treeEntries(objectsGitDir, tree);
  // A folder of it is missing.
  if (entries === null) return { status: 'tree' };
  const absent = new Set(decodeNames(await leftOut(shadowDir, objectsGitDir)));
  const store = new ObjectStore(takenGitDir, objectFormat);
  const lost: string[] = [];
  for (const { path, mode, id } of entries) {
    if (!missing.has(id) || absent.has(path)) continue;
    const isFound = root !== null && (await take({ root, path, id, isLink: mode === '120000' }, store));
    if (isFound) missing.delete(id);
    else lost.push(path);
  }
  return lost.length === 0 ? { status: 'ok' } : { status: 'files', paths: lost };
}

interface WantedFile {
  readonly root: string;
  readonly path: string;
  readonly id: string;
  readonly isLink: boolean;
}

/** Stores the content of a file if it has this id. The path comes from a run directory that anyone may have written. */
async function take({ root, path, id, isLink }: WantedFile, store: ObjectStore): Promise<boolean> {
  const parsed = parseRepoPath(path);
  if (!parsed.ok) return false;
  if (isLink) {
    const link = viewing(root, (view) => view.readLink(parsed.path));
    return link.status === 'seen' && store.write(link.target, null) === id;
  }
  const opening = openRegular(root, parsed.path);
  if (opening.status !== 'open') return false;
  try {
    return (await store.writeStream(chunksOf(opening.file), opening.file.stat.size)) === id;
  } finally {
    closeSync(opening.file.descriptor);
  }
}
