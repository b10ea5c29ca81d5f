/** Reads single folders of a tree: what is in them, and nothing of what is below or beside them. */

import { decodeName, encodeName } from '../../files/names.ts';
import { runGit } from '../git.ts';

/** One entry of a folder. */
interface GitTreeEntry {
  /** As git writes it in a tree: `40000` for a folder. */
  readonly mode: string;
  readonly id: string;
}

/** The entries of a folder by name, whose bytes are characters of latin1, as they are compared. */
export type TreeFolder = Map<string, GitTreeEntry>;

/** The mode of a folder. */
export const FOLDER_MODE = '40000';

/** The bytes of a name as characters. */
export function latin1Name(name: string): string {
  return encodeName(name).toString('latin1');
}

/**
 * The folders of a tree that exist, of those named; `''` is the root. Whoever names a folder names those around it. Throws if the
 * repository lacks one of them.
 */
export async function readFolders(
  gitDir: string,
  tree: string,
  folders: ReadonlySet<string>,
): Promise<Map<string, TreeFolder>> {
  const found = new Map<string, TreeFolder>();
  let left = [...folders].sort();
  while (left.length > 0) {
    const asked: { folder: string; name: string }[] = [];
    const unknown: string[] = [];
    for (const folder of left) {
      const name = objectName(tree, folder, found);
      if (name === null) unknown.push(folder);
      else asked.push({ folder, name });
    }
    const names = asked.map(({ name }) => name);
    const read = asked.length === 0 ? [] : await readTrees(gitDir, names, tree.length / 2);
    for (const [at, { folder }] of asked.entries()) {
      const entries = read[at];
      if (entries) found.set(folder, entries);
    }
    left = asked.length === 0 ? [] : unknown;
  }
  return found;
}

/** What git finds the folder by; null if that is not known yet, or never will be. A name cannot be asked for that has a line end. */
function objectName(tree: string, folder: string, found: ReadonlyMap<string, TreeFolder>): string | null {
  if (folder === '') return tree;
  // The slash makes files with this name missing.
  if (!folder.includes('\n')) return `${tree}:${folder}/`;
  const cut = folder.lastIndexOf('/');
  const entry = found.get(folder.slice(0, Math.max(cut, 0)))?.get(latin1Name(folder.slice(cut + 1)));
  return entry?.mode === FOLDER_MODE ? entry.id : null;
}

/** Null for what the repository has no tree of. `idBytes` is the length of its ids. */
async function readTrees(
  gitDir: string,
  names: readonly string[],
  idBytes: number,
): Promise<(TreeFolder | null)[]> {
  const printed = await runGit({
    cwd: gitDir,
    args: [`--git-dir=${gitDir}`, 'cat-file', '--batch=%(objecttype) %(objectsize)'],
    input: Buffer.concat(names.map((name) => encodeName(`${name}\n`))),
  });
  let at = 0;
  return names.map((name) => {
    const end = printed.indexOf('\n', at);
    const line = printed.toString('latin1', at, end);
    at = end + 1;
    const size = Number(/^tree (\d+)$/.exec(line)?.[1] ?? Number.NaN);
    if (Number.isNaN(size)) {
      if (line === `${latin1Name(name)} missing` && name.includes(':')) return null;
      throw new Error(`git has no tree ${name}: ${line}`);
    }
    const entries = entriesIn(printed.subarray(at, at + size), idBytes);
    at += size + 1;
    return entries;
  });
}

/** `mode SP name NUL id`, one after the other. */
function entriesIn(bytes: Buffer, idBytes: number): TreeFolder {
  const entries: TreeFolder = new Map();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    const id = bytes.toString('hex', end + 1, end + 1 + idBytes);
    entries.set(bytes.toString('latin1', space + 1, end), { mode: bytes.toString('latin1', at, space), id });
    at = end + 1 + idBytes;
  }
  return entries;
}

/** The bytes of the tree with these entries, in git's order: a folder counts as if its name ended with a slash. */
export function treeBytes(folder: TreeFolder): Buffer {
  const entries = [...folder].map(([name, { mode, id }]) => ({
    order: mode === FOLDER_MODE ? `${name}/` : name,
    bytes: `${mode} ${name}\0${Buffer.from(id, 'hex').toString('latin1')}`,
  }));
  entries.sort((a, b) => (a.order < b.order ? -1 : 1));
  return Buffer.from(entries.map(({ bytes }) => bytes).join(''), 'latin1');
}

/** The names in a folder. */
export function namesInFolder(folder: TreeFolder): string[] {
  return [...folder.keys()].map((name) => decodeName(Buffer.from(name, 'latin1')));
}
