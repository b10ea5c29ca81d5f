/** The contents of files at one moment, for comparison with another. */

import { createHash } from 'node:crypto';
import type { RepoPath } from '../../domain/changes/path.ts';
import { readFile } from '../../files/nofollow-files.ts';
import { Breath } from '../../files/time-limit.ts';
import { viewing } from '../../files/tree-view.ts';

/** For larger files, the time of the last change is compared instead of the content. */
const MAX_BYTES = 32 * 1024 * 1024;

/** For each path, a text that changes exactly when its kind, executable bit or content does, including when it is absent. */
export async function contentsOf(root: string, paths: readonly string[]): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  const breath = new Breath();
  for (const path of paths) contents.set(path, await contentOf(root, path, breath));
  return contents;
}

async function contentOf(root: string, path: string, breath: Breath): Promise<string> {
  const { look, link } = viewing(root, (view) => ({ look: view.lookAt(path), link: view.readLink(path) }));
  if (look.status !== 'seen') return look.status;
  const { kind, executable, ctimeNs } = look.stat;
  if (link.status === 'seen') return `link ${link.target.toString('hex')}`;
  if (kind !== 'file') return kind;
  const bytes = bytesOf(root, path);
  await breath.after(1, bytes?.length);
  const held = bytes === null ? `since ${ctimeNs}` : createHash('sha256').update(bytes).digest('hex');
  return `${executable ? 'program' : 'file'} ${held}`;
}

function bytesOf(root: string, path: string): Uint8Array | null {
  const read = readFile(root, path as RepoPath, MAX_BYTES);
  return read.status === 'ok' ? read.bytes : null;
}
