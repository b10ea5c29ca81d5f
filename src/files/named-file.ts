/** Files that a user names: a plan, principles, a schema. In a checkout they may be links that its author has made. */

import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { isGitDirName } from '../domain/changes/path.ts';
import { pathBelow, pathWithin } from './path-within.ts';
import { type BytesRead, readBytes } from './read-bytes.ts';

/**
 * All bytes of the file at an absolute path, as `readBytes` reads it. Of a file in the checkout at `root`, a real path, links are
 * followed only to other files of its work tree; elsewhere the machine is the user's own. `root` is null without a checkout.
 */
export async function readNamedFile(
  path: string,
  root: string | null,
  options: { readonly maxBytes: number; readonly pipes?: boolean },
): Promise<BytesRead> {
  const inside = root === null ? null : await pathWithin(root, path);
  if (root === null || inside === null) return readBytes(path, options);
  const target = await realpathOrNull(path);
  // Reading says why.
  if (target === null) return readBytes(path, { ...options, follow: false });
  if (target !== join(root, inside) && !isInWorkTree(root, target)) {
    const why = `links to ${target}, which is not in the work tree: name that file itself`;
    return { status: 'failed', missing: false, why };
  }
  return readBytes(target, { ...options, follow: false });
}

/** Whether a real path is in the work tree at `root`, and not in a git dir. */
export function isInWorkTree(root: string, target: string): boolean {
  const inside = pathBelow(root, target);
  return inside !== null && !inside.split(sep).some(isGitDirName);
}

/** The real path of a file; null if it does not exist or its links lead nowhere. */
export async function realpathOrNull(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return null;
    throw error;
  }
}
