/**
 * Validates a run directory before anything in it is used. It may be an artifact from another machine, or writable by
 * others. Refuses anything that patchsmith's runs do not create, and anything that git would follow, wait for or
 * obey.
 */

import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { formatNumber, sentence } from '../../domain/text/words.ts';
import { Breath } from '../../files/time-limit.ts';
import type { RunDirectory } from './run-directory.ts';
import { RUN_SOCKET } from './run-lock.ts';

/** Maximum number of files and folders in a run directory; a run has far fewer objects. */
const MAX_ENTRIES = 2_000_000;
const MAX_DEPTH = 1_000;

const MIB = 1024 * 1024;

/**
 * Why the directory cannot be used, as a sentence; null if it can. Commands of the model write to `agent.git` and `scratch`:
 * these are only checked to be folders, and their contents must not be trusted. Other files may be beside those of the run; nothing is
 * read from them.
 */
export async function whyNotUsable({ path: root }: RunDirectory): Promise<string | null> {
  const top = lstatSync(root);
  const uid = getuid?.() ?? top.uid;
  if (!top.isDirectory()) return `The run directory ${root} is not a folder.`;
  if (top.uid !== uid)
    return `The run directory ${root} belongs to another user, who may change it while it is read. Copy it: cp -R --no-preserve=ownership.`;
  // No other user can get into a folder that only its owner can enter, whatever the modes of its contents.
  const owner = (top.mode & 0o077) === 0 ? null : uid;
  const refused = (path: string, why: string) =>
    sentence(`The run directory cannot be used: ${join(root, path)} ${why}`);
  if (owner !== null && isWritableByOthers(top)) return refused('', writableIn(root));
  const breath = new Breath();
  let count = 0;
  // With a stack of its own, since folders may be nested arbitrarily deep.
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const names = FOLDERS.find((one) => one.folder.test(folder ?? ''))?.names;
    const entries = readdirSync(at(root, folder), { withFileTypes: true, encoding: 'latin1' });
    count += entries.length + 1;
    if (count > MAX_ENTRIES) return refused(folder, 'holds too many files');
    if (folder.split('/').length > MAX_DEPTH) return refused(folder, 'is nested too deeply');
    for (const entry of entries) {
      await breath.after(1);
      const isTop = folder === '';
      const path = isTop ? entry.name : `${folder}/${entry.name}`;
      // The lock of a run, which anyone may probe.
      if (isTop && entry.isSocket() && RUN_SOCKET.test(entry.name)) continue;
      if (names !== undefined && !names.test(entry.name))
        return refused(path, 'is not something that a run creates');
      const why = whyNot(entry, { root, path, owner });
      if (why !== null) return refused(path, why);
      if (isTop && FOLDER_NAMES.includes(path) && !entry.isDirectory())
        return refused(path, 'is not a folder');
      if (entry.isDirectory() && (!isTop || path === 'shadow.git')) waiting.push(path);
    }
  }
  return null;
}

/** Names are bytes: each byte is a Latin-1 character here, so that every possible name can be examined. */
function at(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]);
}

/** `owner` is the required owner; null if that does not matter. */
function whyNot(
  entry: Dirent,
  { root, path, owner }: { root: string; path: string; owner: number | null },
): string | null {
  if (entry.isSymbolicLink()) return 'is a link, and links are not followed there';
  if (!entry.isFile() && !entry.isDirectory()) return 'is neither a file nor a folder';
  const most = entry.isFile() ? SIZES.find((one) => one.path.test(path))?.bytes : undefined;
  if (most === undefined && owner === null) return null;
  const stat = lstatSync(at(root, path));
  if (most !== undefined && stat.size > most) return `is larger than ${formatNumber(most)} bytes`;
  if (owner === null) return null;
  if (stat.uid !== owner) return 'belongs to another user, who may change it while it is read';
  return isWritableByOthers(stat) ? writableIn(root) : null;
}

function writableIn(root: string): string {
  return `is writable by other users, who may change it while it is read. Fix: chmod -R go-w ${root}`;
}

/** What git creates in the shadow repository, and what else is stored there. */
const IN_SHADOW =
  /^(?:HEAD|config|objects|refs|info|rules|clock|[a-z-]+\.(?:index|json)|sharedindex\.[0-9a-f]+|[\w.-]+\.lock)$/;

/** Folders with files of these names may contain nothing else: git would read it. */
const FOLDERS: readonly { readonly folder: RegExp; readonly names: RegExp }[] = [
  { folder: /^shadow\.git$/, names: IN_SHADOW },
  { folder: /^shadow\.git\/refs$/, names: /^(?:heads|tags|patchsmith)$/ },
  { folder: /^shadow\.git\/refs\/patchsmith$/, names: /^run(?:\.lock)?$/ },
  { folder: /^shadow\.git\/(?:rules\/git\/)?refs(?:\/|$)/, names: /^(?:heads|tags)$/ },
  {
    folder: /^shadow\.git\/(?:rules\/git\/)?objects$/,
    names: /^(?:info|pack|[0-9a-f]{2}|incoming-[0-9a-f]+)$/,
  },
  { folder: /^shadow\.git\/(?:rules\/git\/)?objects\/info$/, names: /^alternates$/ },
  { folder: /^shadow\.git\/info$/, names: /^$/ },
  { folder: /^shadow\.git\/rules$/, names: /^(?:git|turning|excludes|attributes)$/ },
  { folder: /^shadow\.git\/rules\/git$/, names: /^(?:HEAD|config|objects|refs|info)$/ },
  { folder: /^shadow\.git\/rules\/git\/info$/, names: /^(?:exclude|attributes)$/ },
];

/** Maximum bytes of files that are read as a whole, by any reader. */
const SIZES: readonly { readonly path: RegExp; readonly bytes: number }[] = [
  { path: /\/(?:HEAD|config|alternates|clock|patchsmith\/run)$/, bytes: MIB },
  { path: /\/[a-z-]+\.json$/, bytes: 64 * MIB },
  { path: /^kept-files$/, bytes: 128 * MIB },
  { path: /^shadow\.git\/rules\//, bytes: 100 * MIB },
  { path: /^shadow\.git\/(?=[^/]*$).*index/s, bytes: 1024 * MIB },
];

const FOLDER_NAMES: readonly string[] = ['shadow.git', 'scratch'];

function isWritableByOthers({ mode }: Stats): boolean {
  return (mode & 0o022) !== 0;
}
