/**
 * The writable layer of a run over a cache: a separate folder with the same entries. Large files that never change in place are
 * links into the cache, which commands see read-only; the rest is copied. So nothing that a command does there reaches the cache,
 * and no special feature of the kernel or of bubblewrap is needed.
 */

import {
  chmodSync,
  constants,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isWithin } from '../../../domain/changes/path.ts';
import { orMissing, statOf } from '../host-files.ts';
import { CREDENTIAL_FILES } from '../visible/toolchain-policy.ts';
import type { CachePart } from './presets.ts';

/** How a layer is made. */
export interface LayerSource {
  readonly part: Pick<CachePart, 'linked' | 'left'>;
  /** The real path of the cache. */
  readonly source: string;
  /** Its path on the machine, which links in it may contain. */
  readonly named: string;
  /** Where commands see the cache. */
  readonly shownAt: string;
  /** Does not exist yet. */
  readonly layer: string;
}

/** Most that is copied: some seconds on a slow disk. */
const MAX_COPIED_GIB = 2;
/** Most entries of a layer, linked ones included. */
const MAX_ENTRIES = 500_000;
/** How long other work may wait. */
const TURN_MS = 20;

/** Makes the layer; returns what does not fit into one, and what to do. Left out are token files at its top, entries that vanish or cannot be read, sockets and devices. */
export async function makeLayer(from: LayerSource): Promise<string | null> {
  const { source, named, shownAt, layer, part } = from;
  const advice = `Prune it, or show it with --mount ${named}`;
  const { linked, left } = part;
  let bytes = 0;
  let entries = 0;
  let turn = performance.now();
  const folders = [''];
  mkdirSync(layer, { recursive: true, mode: 0o700 });
  for (const folder of folders) {
    for (const entry of orMissing(() => readdirSync(join(source, folder), { withFileTypes: true })) ?? []) {
      const path = join(folder, entry.name);
      const marked = entry.isDirectory() ? `${path}/` : path;
      if (left?.test(marked) || CREDENTIAL_FILES.includes(path)) continue;
      entries += 1;
      if (entries > MAX_ENTRIES) return `it has more than ${MAX_ENTRIES} entries. ${advice}`;
      const isKept = entry.isDirectory() || entry.isFile();
      if (isKept && linked?.test(marked)) symlinkSync(join(shownAt, path), join(layer, path));
      else if (entry.isDirectory()) {
        mkdirSync(join(layer, path), { mode: 0o700 });
        folders.push(path);
      } else if (entry.isSymbolicLink()) copyLink(from, path);
      else if (entry.isFile()) bytes += copyFile(join(source, path), join(layer, path));
      if (bytes > MAX_COPIED_GIB * 1024 ** 3)
        return `more than ${MAX_COPIED_GIB} GiB would have to be copied. ${advice}`;
      if (performance.now() - turn < TURN_MS) continue;
      await setImmediate();
      turn = performance.now();
    }
  }
  return null;
}

/** Its bytes. Timestamps are kept, because tools remove entries that have not been used for long. */
function copyFile(source: string, to: string): number {
  const stats = statOf(source);
  if (!stats?.isFile()) return 0;
  const isCopied = orMissing(() => {
    // Shares the blocks where the file system can, and copies otherwise.
    copyFileSync(source, to, constants.COPYFILE_FICLONE);
    if ((stats.mode & 0o7000) !== 0) chmodSync(to, stats.mode & 0o777);
    utimesSync(to, stats.atime, stats.mtime);
    return true;
  });
  return isCopied ? stats.size : 0;
}

/** A link stays as it is, unless it points into the cache. In the sandbox, it only leads to files that are visible there. */
function copyLink({ source, named, shownAt, layer }: LayerSource, path: string): void {
  const target = orMissing(() => readlinkSync(join(source, path)));
  if (target === null) return;
  const around = [source, named].find((name) => isWithin(target, name));
  symlinkSync(around === undefined ? target : shownAt + target.slice(around.length), join(layer, path));
}
