/** Reads a file that a user names, which may be in a checkout whose author is someone else. */

import { dirname, join, relative } from 'node:path';
import { isInWorkTree, realpathExisting, realpathOrNull } from '../files/path-within.ts';
import { type BytesRead, readBytes } from '../files/read-bytes.ts';
import { repositoryRoot } from './repository-root.ts';

/**
 * All bytes of the file at an absolute path. From a folder of a checkout, any checkout, links are followed only to other files
 * of its work tree; elsewhere the machine is the user's own.
 */
export async function readNamedFile(
  path: string,
  options: { readonly maxBytes: number; readonly pipes?: boolean },
): Promise<BytesRead> {
  const target = await realpathOrNull(path);
  let isOurs = true;
  for (let folder = path; folder !== dirname(folder); ) {
    folder = dirname(folder);
    const root = await repositoryRoot(folder);
    if (root === null) continue;
    isOurs = false;
    const plain = join(await realpathExisting(folder), relative(folder, path));
    if (target !== null && target !== plain && !isInWorkTree(root, target)) {
      const why = `links to ${target}, which is not in the work tree ${root}: name that file itself`;
      return { status: 'failed', missing: false, why };
    }
  }
  if (isOurs) return readBytes(path, options);
  // If it leads nowhere, reading says why.
  return readBytes(target ?? path, { ...options, follow: false });
}
