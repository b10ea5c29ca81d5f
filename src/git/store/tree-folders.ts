/** Reads single folders of a tree: their entries, and nothing below or beside them. */

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
 * The folders of a tree that exist, of those named; `''` is the root. Whoever names a folder names those around it. Null if one of
 * them is as git itself would not write it, which it would set right. Throws if the repository lacks one of them.
 */
export async function readFolders(
  gitDir: string,
  tree: string,
  folders: ReadonlySet<string>,
): Promise<Map<string, TreeFolder> | null> {
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
      if (entries === 'odd') return null;
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
): Promise<(TreeFolder | 'odd' | null)[]> {
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

/**
 * `mode SP name NUL id`, one after the other. Trees that others than git have written, or that it wrote long ago, have other modes,
 * such as `100664` and `040000`, or folders without anything in them.
 */
function entriesIn(bytes: Buffer, idBytes: number): TreeFolder | 'odd' {
  const entries: TreeFolder = new Map();
  let last = '';
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    const mode = bytes.toString('latin1', at, space);
    const name = bytes.toString('latin1', space + 1, end);
    const id = bytes.toString('hex', end + 1, end + 1 + idBytes);
    const order = orderOf(name, mode);
    if (!MODES.includes(mode) || EMPTY.includes(id) || name.includes('/') || order <= last) return 'odd';
    entries.set(name, { mode, id });
    last = order;
    at = end + 1 + idBytes;
  }
  return entries;
}

const MODES = ['100644', FOLDER_MODE, '100755', '120000', '160000'];

/** The ids of a tree without entries. */
const EMPTY = [
  '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
];

/** By which git sorts: a folder counts as if its name ended with a slash. */
function orderOf(name: string, mode: string): string {
  return mode === FOLDER_MODE ? `${name}/` : name;
}

/** The bytes of the tree with these entries, in git's order. */
export function treeBytes(folder: TreeFolder): Buffer {
  const entries = [...folder].map(([name, { mode, id }]) => ({
    order: orderOf(name, mode),
    bytes: `${mode} ${name}\0${Buffer.from(id, 'hex').toString('latin1')}`,
  }));
  entries.sort((a, b) => (a.order < b.order ? -1 : 1));
  return Buffer.from(entries.map(({ bytes }) => bytes).join(''), 'latin1');
}

/** The names in a folder. */
export function namesInFolder(folder: TreeFolder): string[] {
  return [...folder.keys()].map((name) => decodeName(Buffer.from(name, 'latin1')));
}
