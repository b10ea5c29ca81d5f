/**
 * Where the program that contains commands is installed: it must be out of their reach, or what they write there runs
 * outside the sandbox.
 */

import { isWithin } from '../../domain/changes/path.ts';
import { realPathOf } from './host-files.ts';

/**
 * Why commands must not run in this work tree with these mounts (`PATH[:rw]`), or null. A run loads parts of itself and its
 * search program while commands run; commands could change a copy that is installed in the work tree
 * (`node_modules/patchsmith`).
 */
export function whyNotWritable(root: string, mounts: readonly string[]): string | null {
  const folders = [root, ...mounts.flatMap(writablePart)];
  const own = realPathOf(import.meta.dirname) ?? import.meta.dirname;
  const folder = folders.find((path) => isWithin(own, realPathOf(path) ?? path));
  return folder === undefined
    ? null
    : `patchsmith itself is in ${folder} (${own}), where commands could change it. ` +
        'Install it elsewhere, for example with npm install --global patchsmith.';
}

function writablePart(mount: string): string[] {
  return mount.endsWith(':rw') ? [mount.slice(0, -':rw'.length)] : [];
}
