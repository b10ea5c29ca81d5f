/**
 * Walks a path of the work tree one component at a time.
 *
 * `open("/proc/self/fd/<folder>/<name>", O_PATH | O_NOFOLLOW)` resolves exactly one name in an open folder and follows no
 * link, as openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS would. None of these calls waits for anybody, and each takes
 * microseconds: handed to another thread they would take ten times as long.
 */

import { closeSync, constants, fstatSync, mkdirSync, openSync, readlinkSync, type Stats } from 'node:fs';
import type { RepoPath } from '../domain/changes/path.ts';
import { formatNumber } from '../domain/text/format-number.ts';
import { shortened } from '../domain/text/shorten.ts';
import { type FileFailure, fileFailure, hasCode, ioFailure } from './failures.ts';
import { decodeName, encodeName } from './names.ts';
import { describeMissing } from './nearest-names.ts';
import { MAX_PATH_BYTES, O_PATH } from './tree-view.ts';

/** An open folder and the name of an entry in it, which may or may not exist. Its holder closes the descriptor `folder`. */
export interface Place {
  readonly status: 'ok';
  readonly folder: number;
  readonly name: string;
  /** The path up to and including `name`, for messages. */
  readonly path: string;
}

/** What one name refers to, opened without following it. Its holder closes `descriptor`. */
export interface NamedPlace {
  readonly descriptor: number;
  readonly stat: Stats;
}

/** Opens the folder that contains the last name of `path`; `make` creates missing folders on the way. */
export function enterParent(root: string, path: RepoPath, missing: 'existing' | 'make'): Place | FileFailure {
  if (path === '') return fileFailure('path_refused', 'The repository root is a folder, not a file.');
  if (decodeName(encodeName(path)) !== path) {
    return fileFailure(
      'path_refused',
      `${JSON.stringify(path)} is another spelling of a name; use the one that list_files shows.`,
    );
  }
  // Nothing else could open it, our own look at what was written included.
  if (path.length * 3 > MAX_PATH_BYTES && encodeName(`${root}/${path}`).length > MAX_PATH_BYTES) {
    return fileFailure(
      'path_refused',
      `${JSON.stringify(shortened(path, 200))} is too long: with the path of the work tree it has more than ${formatNumber(MAX_PATH_BYTES)} bytes.`,
    );
  }
  const names = path.split('/');
  const name = names.pop() ?? '';
  let folder = openSync(root, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  for (const [at, next] of names.entries()) {
    const place: Place = { status: 'ok', folder, name: next, path: names.slice(0, at + 1).join('/') };
    try {
      const entered = enter(place, missing);
      if (typeof entered !== 'number') return entered;
      folder = entered;
    } finally {
      closeSync(place.folder);
    }
  }
  return { status: 'ok', folder, name, path };
}

/** Descends into a folder. */
function enter(place: Place, missing: 'existing' | 'make'): number | FileFailure {
  let step = openNamedPlace(place);
  if (step === null && missing === 'make') {
    try {
      mkdirSync(below(place.folder, place.name));
    } catch (error) {
      // Another call of the same turn may have just created it.
      if (!hasCode(error, 'EEXIST')) return ioFailure(error, place.path, 'written');
    }
    step = openNamedPlace(place);
  }
  if (step === null) return fileFailure('not_found', describeMissing(place));
  if ('status' in step) return step;
  if (step.stat.isDirectory()) return step.descriptor;
  closeSync(step.descriptor);
  const why = step.stat.isFile()
    ? `${JSON.stringify(place.path)} is a file, not a folder.`
    : describeSpecial(place, step.stat);
  return fileFailure('path_refused', why);
}

/** Opens a place in order to examine it, even if it is a link; null if nothing is there. */
export function openNamedPlace(place: Place): NamedPlace | FileFailure | null {
  let descriptor: number;
  try {
    descriptor = openSync(below(place.folder, place.name), O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    return hasCode(error, 'ENOENT') ? null : ioFailure(error, place.path, 'entered');
  }
  try {
    return { descriptor, stat: fstatSync(descriptor) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** The path of a name in an open folder, as bytes. */
export function below(folder: number, name: string): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${folder}/`), encodeName(name)]);
}

/** The path that reopens what a descriptor refers to. */
export function through(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

/** Describes something that is not a regular file; for a link, also its target. */
export function describeSpecial(place: Place, stat: Stats): string {
  const name = JSON.stringify(place.path);
  if (stat.isSymbolicLink()) {
    const target = targetOf(place);
    const where = target === null ? '' : ` to ${JSON.stringify(decodeName(target))}`;
    return `${name} is a symbolic link${where}; links are not followed. Use the path of the file itself.`;
  }
  if (stat.isDirectory()) return `${name} is a folder, not a file. list_files shows what is in it.`;
  const kind = stat.isFIFO() ? 'a named pipe' : stat.isSocket() ? 'a socket' : 'a device';
  return `${name} is ${kind}, not a regular file.`;
}

/** Null if there is no link any more. */
function targetOf({ folder, name }: Place): Buffer | null {
  try {
    return readlinkSync(below(folder, name), 'buffer');
  } catch (error) {
    if (hasCode(error, 'EINVAL', 'ENOENT')) return null;
    throw error;
  }
}
