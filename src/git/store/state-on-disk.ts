/** What is at a path of the work tree now. */

import { closeSync } from 'node:fs';
import type { FileState } from '../../domain/changes/change.ts';
import { chunksOf, openRegularIn } from '../../files/opened-file.ts';
import { viewing } from '../../files/tree-view.ts';
import { blobId, blobIdOfChunks, type ObjectFormat } from './object-store.ts';

/** `none`: no file and no link. `unknown`: one that cannot be read, or is too large. The blob is that of the bytes on disk. */
export type StateOnDisk =
  | { readonly status: 'file'; readonly state: FileState }
  | { readonly status: 'none' | 'unknown' };

/** Hashes a file of at most `maxBytes`, and stores nothing. */
export async function stateOnDisk(
  root: string,
  path: string,
  format: ObjectFormat,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<StateOnDisk> {
  const { link, opening } = viewing(root, (view) => {
    const read = view.readLink(path);
    return { link: read, opening: read.status === 'seen' ? null : openRegularIn(view, path) };
  });
  if (link.status === 'seen') {
    const size = link.target.length;
    return { status: 'file', state: { mode: '120000', blob: blobId(link.target, format), size } };
  }
  if (opening?.status !== 'open') return { status: opening?.status === 'absent' ? 'none' : 'unknown' };
  const { descriptor, stat } = opening.file;
  try {
    if (stat.size > maxBytes) return { status: 'unknown' };
    const blob = await blobIdOfChunks(chunksOf(opening.file), stat.size, format);
    return {
      status: 'file',
      state: { mode: stat.executable ? '100755' : '100644', blob, size: stat.size },
    };
  } finally {
    closeSync(descriptor);
  }
}
