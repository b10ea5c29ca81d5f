/**
 * Reads and writes only regular files, and only in the work tree, whatever links, FIFOs and races the tree contains.
 *
 * Every component of a path is opened relative to the descriptor of the one before, so the kernel resolves nothing that
 * could be swapped in the meantime (see `nofollow-path.ts`). Needs Linux's `/proc`.
 */

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import type { RepoPath } from '../domain/changes/path.ts';
import { formatNumber } from '../domain/text/format-number.ts';
import { type FileFailure, fileFailure, hasCode, ioFailure } from './failures.ts';
import { describeMissing } from './nearest-names.ts';
import { below, describeSpecial, enterParent, openNamedPlace, type Place, through } from './nofollow-path.ts';
import { readUpTo } from './opened-file.ts';

/** Files of the work tree below one root. Keeps no descriptor open between calls. */
export type NofollowFiles = ReturnType<typeof openNofollowFiles>;

type GuardedRead =
  | { status: 'ok'; bytes: Buffer; mode: '100644' | '100755' }
  | (FileFailure & { beginning?: Buffer });
type GuardedWrite = { status: 'ok'; created: boolean } | FileFailure;

/** `root` is an absolute path without links. */
export function openNofollowFiles(root: string) {
  return {
    /** The whole file, up to `maxBytes`; of a larger one its `beginning`, as `too_large`. */
    read: (path: RepoPath, maxBytes: number): GuardedRead =>
      inParent(root, path, 'existing', (place) => readAt(place, maxBytes)),
    /**
     * Writes exact bytes into a temporary file and renames it over the old one: other hard links to the old file keep their
     * content, and a reader sees either the old bytes or the new ones. Creates missing folders; keeps mode and owner of an
     * existing file; a new one gets mode 0666 less the umask. With `executable`, whoever may read the file may execute it, or
     * nobody may, and the owner may read it.
     */
    write: (path: RepoPath, bytes: Uint8Array, executable?: boolean): GuardedWrite =>
      inParent(root, path, 'make', (place) => writeAt(place, bytes, executable)),
  };
}

function inParent<T>(
  root: string,
  path: RepoPath,
  missing: 'existing' | 'make',
  work: (place: Place) => T,
): T | FileFailure {
  const place = enterParent(root, path, missing);
  if (place.status === 'failed') return place;
  try {
    return work(place);
  } finally {
    closeSync(place.folder);
  }
}

function readAt(place: Place, maxBytes: number): GuardedRead {
  const step = openNamedPlace(place);
  if (step === null) return fileFailure('not_found', describeMissing(place));
  if ('status' in step) return step;
  let file: number | null = null;
  try {
    if (!step.stat.isFile()) return fileFailure('path_refused', describeSpecial(place, step.stat));
    // The very inode that was examined; non-blocking, in case a file system gives it odd semantics.
    file = openSync(through(step.descriptor), constants.O_RDONLY | constants.O_NONBLOCK);
    const { size, mode } = fstatSync(file);
    const bytes = readUpTo(file, size, maxBytes);
    if (bytes !== null) return { status: 'ok', bytes, mode: mode & 0o100 ? '100755' : '100644' };
    const buffer = Buffer.allocUnsafe(BEGINNING_BYTES);
    const beginning = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0));
    const message = `${JSON.stringify(place.path)} has ${formatNumber(size)} bytes; files over ${formatNumber(maxBytes)} bytes are not read whole.`;
    return { ...fileFailure('too_large', message), beginning };
  } catch (error) {
    return ioFailure(error, place.path, 'read');
  } finally {
    closeSync(step.descriptor);
    if (file !== null) closeSync(file);
  }
}

/** The part that is read of a file that is too large to read whole. */
const BEGINNING_BYTES = 102_400;

function writeAt(place: Place, bytes: Uint8Array, executable: boolean | undefined): GuardedWrite {
  const step = openNamedPlace(place);
  if (step !== null && 'status' in step) return step;
  if (step !== null) closeSync(step.descriptor);
  if (step && !step.stat.isFile()) return fileFailure('path_refused', describeSpecial(place, step.stat));
  try {
    replace(place, bytes, step?.stat ?? null, executable);
  } catch (error) {
    return ioFailure(error, place.path, 'written');
  }
  return { status: 'ok', created: step === null };
}

/** The name of a file while it is being written. */
export const TEMPORARY_NAME = /^\.patchsmith-[0-9a-f]{16}\.tmp$/;

function replace(place: Place, bytes: Uint8Array, old: Stats | null, executable: boolean | undefined): void {
  const temporary = below(place.folder, `.patchsmith-${randomBytes(8).toString('hex')}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = openSync(temporary, flags, old ? 0o600 : 0o666);
  try {
    try {
      writeFileSync(file, bytes);
      if (old) takeOwner(file, old);
      fchmodSync(file, permissionsLike(old ?? fstatSync(file), executable));
    } finally {
      closeSync(file);
    }
    renameSync(temporary, below(place.folder, place.name));
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
}

/** Gives the new file the old one's owner, if permitted. It clears mode bits, which are set afterwards. */
function takeOwner(file: number, old: Stats): void {
  const now = fstatSync(file);
  if (now.uid === old.uid && now.gid === old.gid) return;
  try {
    fchownSync(file, old.uid, old.gid);
  } catch (error) {
    if (!hasCode(error, 'EPERM')) throw error;
  }
}

function permissionsLike({ mode }: Stats, executable: boolean | undefined): number {
  const permissions = mode & 0o777;
  if (executable === undefined) return permissions;
  const open = (permissions & 0o400) === 0 ? permissions | 0o600 : permissions;
  return executable ? open | ((open & 0o444) >> 2) : open & ~0o111;
}
