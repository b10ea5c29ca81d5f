/** Reads and writes whole regular files of the work tree, following no link. */

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
import { formatNumber } from '../domain/text/words.ts';
import { type FileFailure, fileFailure, hasCode, ioFailure } from './failures.ts';
import {
  below,
  describeMissing,
  inParent,
  notRegular,
  openNamedPlace,
  type Place,
  through,
} from './nofollow.ts';
import { readUpTo } from './opened-file.ts';

/** The whole file, up to `maxBytes`; of a larger one its `beginning`, as `too_large`. */
export function readFile(
  root: string,
  path: RepoPath,
  maxBytes: number,
): { status: 'ok'; bytes: Buffer } | (FileFailure & { beginning?: Buffer }) {
  return inParent(root, path, 'existing', (place) => {
    const step = openNamedPlace(place);
    if (step === null) return fileFailure('not_found', describeMissing(place));
    if ('status' in step) return step;
    let file: number | null = null;
    try {
      if (!step.stat.isFile()) return notRegular(place, step.stat);
      // The very inode that was examined; non-blocking, in case a file system gives it odd semantics.
      file = openSync(through(step.descriptor), constants.O_RDONLY | constants.O_NONBLOCK);
      const { size } = fstatSync(file);
      const bytes = readUpTo(file, size, maxBytes);
      if (bytes !== null) return { status: 'ok', bytes };
      const buffer = Buffer.allocUnsafe(BEGINNING_BYTES);
      const beginning = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0));
      const message = `${JSON.stringify(path)} has ${formatNumber(size)} bytes; files over ${formatNumber(maxBytes)} bytes are not read whole.`;
      return { ...fileFailure('too_large', message), beginning };
    } catch (error) {
      return ioFailure(error, path, 'read');
    } finally {
      closeSync(step.descriptor);
      if (file !== null) closeSync(file);
    }
  });
}

/** The part that is read of a file that is too large to read whole. */
const BEGINNING_BYTES = 102_400;

/** The name of a file while it is being written. */
export const TEMPORARY_NAME = /^\.patchsmith-[0-9a-f]{16}\.tmp$/;

/**
 * Writes exact bytes into a temporary file and renames it over the old one: other hard links to the old file keep their content, and
 * a reader sees either the old bytes or the new ones. Creates missing folders; keeps mode and owner of an existing file; a new one
 * gets mode 0666 less the umask. With `executable`, whoever may read the file may execute it, or nobody may, and the owner may read
 * it. `permissions` are those of a file that does not exist, and the most that an existing one keeps. Contents too large for memory are those of an open file.
 */
export function writeFile(
  root: string,
  path: RepoPath,
  contents: Uint8Array | { readonly descriptor: number },
  executable?: boolean,
  permissions?: number,
): { status: 'ok'; created: boolean } | FileFailure {
  return inParent(root, path, 'make', (place) => {
    const step = openNamedPlace(place);
    if (step !== null && 'status' in step) return step;
    if (step !== null) closeSync(step.descriptor);
    if (step && !step.stat.isFile()) return notRegular(place, step.stat);
    const temporary = below(place.folder, `.patchsmith-${randomBytes(8).toString('hex')}.tmp`);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = openSync(temporary, flags, step || permissions !== undefined ? 0o600 : 0o666);
    try {
      try {
        for (const bytes of 'descriptor' in contents ? bytesOf(contents.descriptor) : [contents])
          writeFileSync(file, bytes);
        if (step) takeOwner(file, step.stat);
        const mode = step?.stat.mode ?? permissions ?? fstatSync(file).mode;
        fchmodSync(file, permissionsLike(mode & (permissions ?? 0o777), executable));
      } finally {
        closeSync(file);
      }
      renameSync(temporary, below(place.folder, place.name));
    } catch (error) {
      unlinkSync(temporary);
      throw error;
    }
    return { status: 'ok', created: step === null };
  });
}

/** From its first byte. */
function* bytesOf(descriptor: number): Generator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let at = 0; ; ) {
    const length = readSync(descriptor, buffer, 0, buffer.length, at);
    if (length === 0) return;
    yield buffer.subarray(0, length);
    at += length;
  }
}

const CHUNK_BYTES = 2 ** 20;

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

function permissionsLike(mode: number, executable: boolean | undefined): number {
  const permissions = mode & 0o777;
  if (executable === undefined) return permissions;
  const open = (permissions & 0o400) === 0 ? permissions | 0o600 : permissions;
  return executable ? open | ((open & 0o444) >> 2) : open & ~0o111;
}

/** Writes a file that does not exist yet, and creates missing folders. Null on success, otherwise the reason. */
export function writeNewFile(root: string, path: RepoPath, text: string): string | null {
  const write = (place: Place) => writeFileSync(below(place.folder, place.name), text, { flag: 'wx' });
  return inParent(root, path, 'make', write)?.message ?? null;
}
