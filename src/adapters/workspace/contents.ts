/** The contents of files at one moment, to be compared with another moment. */

import { createHash } from 'node:crypto';
import type { RepoPath } from '../../domain/changes/path.ts';
import { openNofollowFiles } from '../../files/nofollow-files.ts';
import { viewing } from '../../files/tree-view.ts';

/** For larger files, the time of the last change is compared instead of the content. */
const MAX_BYTES = 32 * 1024 * 1024;

/** For each path, a text that changes exactly when its kind, executable bit or content does, including when it is absent. */
export async function contentsOf(root: string, paths: readonly string[]): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  for (const path of paths) contents.set(path, await contentOf(root, path));
  return contents;
}

async function contentOf(root: string, path: string): Promise<string> {
  const { look, link } = viewing(root, (view) => ({ look: view.lookAt(path), link: view.readLink(path) }));
  if (look.status !== 'seen') return look.status;
  const { kind, executable, ctimeNs } = look.stat;
  if (link.status === 'seen') return `link ${link.target.toString('hex')}`;
  if (kind !== 'file') return kind;
  const bytes = await bytesOf(root, path);
  const held = bytes === null ? `since ${ctimeNs}` : createHash('sha256').update(bytes).digest('hex');
  return `${executable ? 'program' : 'file'} ${held}`;
}

async function bytesOf(root: string, path: string): Promise<Uint8Array | null> {
  const read = await openNofollowFiles(root).read(path as RepoPath, MAX_BYTES);
  return read.status === 'ok' ? read.bytes : null;
}
