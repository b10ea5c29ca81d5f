/**
 * Takes over the objects of a tree from a store with loose objects by hard-linking them. To pack them, git would open and
 * compress each one again.
 */

import { existsSync, linkSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../../files/failures.ts';
import { Breath } from '../../../files/time-limit.ts';
import { askGit } from '../../../git/git.ts';

/** As many as git itself leaves loose: from there on it packs them when it tidies up. */
const MANY_LOOSE = 6_700;

/**
 * Whether a store has that many loose objects, estimated from the same sample as git's, and they belong to this user: everything
 * in a run directory must belong to its owner.
 */
export function hasManyLoose(objects: string): boolean {
  const sample = join(objects, '17');
  try {
    const names = readdirSync(sample);
    if (names.length <= MANY_LOOSE / 256) return false;
    return names.every((name) => lstatSync(join(sample, name)).uid === process.getuid?.());
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}

/**
 * Links all objects of a tree from `objects` into the shadow repository. False when one of them is in neither, or cannot be
 * linked, as to another file system; those that were linked stay.
 */
export async function linkTree(shadowDir: string, tree: string, objects: string): Promise<boolean> {
  const kept = join(shadowDir, 'objects');
  const listed = await askGit({
    cwd: shadowDir,
    args: [`--git-dir=${shadowDir}`, 'rev-list', '--objects', '--no-object-names', tree],
  });
  if (listed.exitCode !== 0) return false;
  for (const name of readdirSync(objects))
    if (/^[0-9a-f]{2}$/.test(name)) mkdirSync(join(kept, name), { recursive: true, mode: 0o700 });
  const breath = new Breath();
  for (const id of listed.stdout.toString('latin1').split('\n')) {
    if (id !== '' && !linkObject(id, objects, kept)) return false;
    await breath.after(1);
  }
  return true;
}

function linkObject(id: string, from: string, to: string): boolean {
  const name = `${id.slice(0, 2)}/${id.slice(2)}`;
  try {
    linkSync(`${from}/${name}`, `${to}/${name}`);
  } catch (error) {
    // Contents of the start that had not been added are only in the shadow repository.
    if (hasCode(error, 'EEXIST', 'ENOENT')) return existsSync(`${to}/${name}`);
    if (hasCode(error, 'EXDEV', 'EPERM', 'EACCES', 'EMLINK')) return false;
    throw error;
  }
  return true;
}
