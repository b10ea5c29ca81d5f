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
 * Why the directory cannot be used, as a sentence; null if it can. Commands of the model write to `scratch`: it is only
 * checked to be a folder, and its contents must not be trusted.
 */
export async function whyNotUsable(directory: RunDirectory): Promise<string | null> {
  const top = lstatSync(directory.path);
  const uid = getuid?.() ?? top.uid;
  if (!top.isDirectory()) return `The run directory ${directory.path} is not a folder.`;
  if (top.uid !== uid)
    return `The run directory ${directory.path} belongs to another user, who may change it while it is read. Copy it: cp -R --no-preserve=ownership.`;
  // No other user can get into a folder that only its owner can enter, whatever the modes of its contents.
  const isClosed = (top.mode & 0o077) === 0;
  const check = new Check(directory.path, isClosed ? null : uid);
  if (!isClosed && isWritableByOthers(top)) return check.writable('');
  return check.top() ?? (await check.below('shadow.git'));
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

class Check {
  readonly #root: string;
  readonly #uid: number | null;
  #entries = 0;

  /** `uid` is the required owner of everything; null if the owner does not matter. */
  constructor(root: string, uid: number | null) {
    this.#root = root;
    this.#uid = uid;
  }

  /** Names are bytes: each byte is a Latin-1 character here, so that every possible name can be examined. */
  #at(path: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.#root}/`), Buffer.from(path, 'latin1')]);
  }

  /** Other files may be next to those of the run; nothing is read from them. */
  top(): string | null {
    for (const entry of this.#entriesOf('')) {
      // The lock of a run, which anyone may probe.
      if (entry.isSocket() && RUN_SOCKET.test(entry.name)) continue;
      const why = this.#whyNot(entry.name, entry);
      if (why !== null) return why;
      if (FOLDER_NAMES.includes(entry.name) && !entry.isDirectory())
        return this.#refuse(entry.name, 'is not a folder');
    }
    return null;
  }

  /** Walks with an explicit stack, since folders may be nested arbitrarily deep. */
  async below(start: string): Promise<string | null> {
    if (lstatSync(this.#at(start), { throwIfNoEntry: false }) === undefined) return null;
    const waiting = [start];
    const breath = new Breath();
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const names = FOLDERS.find((one) => one.folder.test(folder ?? ''))?.names;
      for (const entry of this.#entriesOf(folder)) {
        await breath.after(1);
        const path = `${folder}/${entry.name}`;
        if (names !== undefined && !names.test(entry.name))
          return this.#refuse(path, 'is not something that a run creates');
        const why = this.#whyNot(path, entry);
        if (why !== null) return why;
        if (entry.isDirectory()) waiting.push(path);
      }
      this.#entries += 1;
      if (this.#entries > MAX_ENTRIES) return this.#refuse(folder, 'holds too many files');
      if (folder.split('/').length > MAX_DEPTH) return this.#refuse(folder, 'is nested too deeply');
    }
    return null;
  }

  writable(path: string): string {
    return this.#refuse(
      path,
      `is writable by other users, who may change it while it is read. Fix: chmod -R go-w ${this.#root}`,
    );
  }

  #entriesOf(folder: string): Dirent[] {
    const entries = readdirSync(this.#at(folder), { withFileTypes: true, encoding: 'latin1' });
    this.#entries += entries.length;
    return this.#entries > MAX_ENTRIES ? entries.slice(0, 1) : entries;
  }

  #whyNot(path: string, entry: Dirent): string | null {
    if (entry.isSymbolicLink()) return this.#refuse(path, 'is a link, and links are not followed there');
    if (!entry.isFile() && !entry.isDirectory()) return this.#refuse(path, 'is neither a file nor a folder');
    const most = entry.isFile() ? SIZES.find((one) => one.path.test(path))?.bytes : undefined;
    if (most === undefined && this.#uid === null) return null;
    const stat = lstatSync(this.#at(path));
    if (most !== undefined && stat.size > most)
      return this.#refuse(path, `is larger than ${formatNumber(most)} bytes`);
    if (this.#uid === null) return null;
    if (stat.uid !== this.#uid)
      return this.#refuse(path, 'belongs to another user, who may change it while it is read');
    return isWritableByOthers(stat) ? this.writable(path) : null;
  }

  #refuse(path: string, why: string): string {
    return sentence(`The run directory cannot be used: ${join(this.#root, path)} ${why}`);
  }
}

const FOLDER_NAMES: readonly string[] = ['shadow.git', 'scratch'];

function isWritableByOthers({ mode }: Stats): boolean {
  return (mode & 0o022) !== 0;
}
