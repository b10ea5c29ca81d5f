/**
 * One rule for the source of every mount. bubblewrap follows links whenever it mounts, at every command, so a folder that a command
 * has replaced with a link would show the next one whatever the link leads to. Each source is therefore resolved once, when the
 * sandbox opens, refused if commands could replace any part of its path, and pinned: by a descriptor, which keeps its inode number
 * from being used again. Before a command begins, what is mounted is compared with that.
 */

import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { isWithin } from '../../../domain/changes/path.ts';
import { isAlive, type ProcessId } from '../command/process-table.ts';
import { resolvePath } from '../host-files.ts';
import type { Bind, Mount, PinnedMount } from '../mount.ts';

/** O_PATH: needs no permission to read, and does not open a device. */
const O_PATH = 0o10000000;

/** The pins of one sandbox. */
export interface Pins {
  /** The mounts of the run. */
  readonly mounts: readonly PinnedMount[];
  /** Pins further mounts, each source at its first use. Throws if one may not be mounted. */
  more(mounts: readonly Mount[]): PinnedMount[];
  /** Pins the mount of a file of ours that belongs to one command: it is not kept. */
  once(mount: Bind): PinnedMount;
  close(): void;
}

/**
 * `closed` are folders in the work tree that every command has covered: the repository's own. `reason` names the source and what
 * to do.
 */
export function pinMounts(
  mounts: readonly Mount[],
  closed: readonly string[],
): { status: 'ok'; pins: Pins } | { status: 'refused'; reason: string } {
  const writable = mounts.flatMap((mount) =>
    mount.kind === 'read-write' ? [resolvePath(mount.source)?.real ?? mount.source] : [],
  );
  const pins = new Map<string, Pinned>();
  const pinAll = (given: readonly Mount[], places: readonly string[]) =>
    given.flatMap((mount): PinnedMount[] => {
      if (!('source' in mount)) return [mount];
      const known = pins.get(mount.source) ?? pin(mount, places, closed);
      if (known === null) return [];
      pins.set(mount.source, known);
      return [{ ...mount, ...known.place }];
    });
  const close = () => {
    for (const { descriptor } of pins.values()) closeSync(descriptor);
    pins.clear();
  };
  try {
    const pinned = pinAll(mounts, writable);
    return {
      status: 'ok',
      pins: {
        mounts: pinned,
        more(given) {
          // They are of the work tree, mounted onto itself, and every command has the folders above them pinned.
          const more = pinAll(given, []);
          const sources = given.flatMap((mount) => ('source' in mount ? [mount.source] : []));
          for (const source of sources)
            if (pins.get(source)?.place.source !== source)
              throw new RefusedSource(`${source} is behind a link, so it cannot be hidden from commands.`);
          return more;
        },
        once(mount) {
          const { dev, ino } = lstatSync(mount.source, { bigint: true });
          return { ...mount, dev, ino };
        },
        close,
      },
    };
  } catch (error) {
    close();
    if (error instanceof RefusedSource) return { status: 'refused', reason: error.message };
    throw error;
  }
}

/** Why what process 1 of a sandbox sees is not what was pinned, as a sentence; null if it is, or if there is no such process. */
export function whyChanged(mounts: readonly PinnedMount[], init: ProcessId): string | null {
  for (const [index, mount] of mounts.entries()) {
    if (!('dev' in mount) || isMounted(mount, init)) continue;
    const isCovered = mounts
      .slice(index + 1)
      .some((later) => later.kind !== 'closed' && isWithin(mount.at, later.at));
    if (!isCovered && isAlive(init))
      return `${mount.source} was replaced since the run began, so it is not shown to commands. Put it back, or start a new run.`;
  }
  return null;
}

function isMounted({ at, dev, ino }: PinnedBind, { pid }: ProcessId): boolean {
  try {
    const seen = lstatSync(`/proc/${pid}/root${at}`, { bigint: true });
    return seen.dev === dev && seen.ino === ino;
  } catch {
    // Also if it cannot be examined: then nothing is known about it.
    return false;
  }
}

interface Pinned {
  readonly descriptor: number;
  readonly place: Pick<PinnedBind, 'source' | 'dev' | 'ino'>;
}

type PinnedBind = Extract<PinnedMount, { dev: bigint }>;

class RefusedSource extends Error {}

/** What the machine shows to commands was replaced or removed from outside while the run was in progress. */
export class ReplacedSource extends Error {
  readonly code = 'ESTALE';
}

/** Null if it is missing and may be. */
function pin(mount: Bind, writable: readonly string[], closed: readonly string[]): Pinned | null {
  const { source, optional, namedBy } = mount;
  const found = resolvePath(source);
  const refuse = (why: string) => new RefusedSource(`${source}${namedBy ? ` (${namedBy})` : ''} ${why}`);
  if (found === null) {
    if (optional) return null;
    throw refuse('does not exist or cannot be opened, so commands cannot see it.');
  }
  const { real, links } = found;
  for (const place of writable) {
    const isReplaceable = (path: string) =>
      path !== place && isWithin(path, place) && !closed.some((folder) => isWithin(path, folder));
    if (isReplaceable(real) || links.some(isReplaceable))
      throw refuse(
        `leads into ${place}, which commands can write to: they could replace it with a link to anywhere. Move it, or remove what names it.`,
      );
  }
  const descriptor = openSync(real, O_PATH | constants.O_NOFOLLOW);
  const stats = fstatSync(descriptor, { bigint: true });
  if (stats.isDirectory() || stats.isFile())
    return { descriptor, place: { source: real, dev: stats.dev, ino: stats.ino } };
  closeSync(descriptor);
  throw refuse('is neither a folder nor a plain file, so commands may not see it.');
}
