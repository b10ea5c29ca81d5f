/**
 * Walks a path of the work tree one name at a time, whatever links, pipes and races it contains.
 *
 * `open("/proc/self/fd/<folder>/<name>", O_PATH | O_NOFOLLOW)` resolves exactly one name in an open folder and follows no
 * link, as openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS would; so nothing that is swapped in the meantime leads
 * outside. None of these calls waits for anybody, and each takes microseconds.
 */

import { closeSync, constants, fstatSync, mkdirSync, openSync, readlinkSync, type Stats } from 'node:fs';
import { distance } from 'fastest-levenshtein';
import { isGitDirName, type RepoPath } from '../domain/changes/path.ts';
import { shortened } from '../domain/text/shorten.ts';
import { formatNumber } from '../domain/text/words.ts';
import { type FileFailure, fileFailure, hasCode, ioFailure } from './failures.ts';
import { decodeName, encodeName } from './names.ts';
import { MAX_PATH_BYTES, O_PATH, readEntries } from './tree-view.ts';

/** An open folder and the name of an entry in it, which may or may not exist. Its holder closes the descriptor `folder`. */
export interface Place {
  readonly status: 'ok';
  readonly folder: number;
  readonly name: string;
  /** The path up to and including `name`, for messages. */
  readonly path: string;
}

/** What one name refers to, opened without following it. Its holder closes `descriptor`. */
interface NamedPlace {
  readonly descriptor: number;
  readonly stat: Stats;
}

/**
 * Opens the folder that contains the last name of `path`; `make` creates missing folders on the way. `root` is an absolute path
 * without links.
 */
export function enterParent(root: string, path: RepoPath, missing: 'existing' | 'make'): Place | FileFailure {
  const refused = (why: string) => fileFailure('path_refused', why);
  if (path === '') return refused('The repository root is a folder, not a file.');
  if (decodeName(encodeName(path)) !== path)
    return refused(
      `${JSON.stringify(path)} is another spelling of a name; use the one that list_files shows.`,
    );
  // Nothing else could open it, our own look at what was written included.
  if (path.length * 3 > MAX_PATH_BYTES && encodeName(`${root}/${path}`).length > MAX_PATH_BYTES)
    return refused(
      `${JSON.stringify(shortened(path, 200))} is too long: with the path of the work tree it has more than ${formatNumber(MAX_PATH_BYTES)} bytes.`,
    );
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

/** Does work in the folder that `enterParent` opens, and closes it. System errors become failures. */
export function inParent<T>(
  root: string,
  path: RepoPath,
  missing: 'existing' | 'make',
  work: (place: Place) => T,
): T | FileFailure {
  const place = enterParent(root, path, missing);
  if (place.status === 'failed') return place;
  try {
    return work(place);
  } catch (error) {
    return ioFailure(error, path, 'written');
  } finally {
    closeSync(place.folder);
  }
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
  return step.stat.isFile()
    ? fileFailure('path_refused', `${JSON.stringify(place.path)} is a file, not a folder.`)
    : notRegular(place, step.stat);
}

/** Opens a place in order to examine it, even if it is a link; null if nothing is there. */
export function openNamedPlace(place: Place): NamedPlace | FileFailure | null {
  try {
    const descriptor = openSync(below(place.folder, place.name), O_PATH | constants.O_NOFOLLOW);
    return { descriptor, stat: fstatSync(descriptor) };
  } catch (error) {
    return hasCode(error, 'ENOENT') ? null : ioFailure(error, place.path, 'entered');
  }
}

/** The path of a name in an open folder, as bytes. */
export function below(folder: number, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${through(folder)}/`), encodeName(name)]);
}

/** The path that reopens what a descriptor refers to. */
export function through(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

/** The failure for what is not a regular file; for a link, with its target. */
export function notRegular({ folder, name, path }: Place, stat: Stats): FileFailure {
  const refused = (what: string) => fileFailure('path_refused', `${JSON.stringify(path)} is ${what}`);
  if (stat.isDirectory()) return refused('a folder, not a file. list_files shows what is in it.');
  if (!stat.isSymbolicLink()) {
    const kind = stat.isFIFO() ? 'a named pipe' : stat.isSocket() ? 'a socket' : 'a device';
    return refused(`${kind}, not a regular file.`);
  }
  let where = '';
  try {
    where = ` to ${JSON.stringify(decodeName(readlinkSync(below(folder, name), 'buffer')))}`;
  } catch (error) {
    // There is no link any more.
    if (!hasCode(error, 'EINVAL', 'ENOENT')) throw error;
  }
  return refused(`a symbolic link${where}; links are not followed. Use the path of the file itself.`);
}

/** `"src/ap" does not exist. Nearest names in "src": "app", "api".` The names are left out if there are too many to compare. */
export function describeMissing({ folder, name, path }: Place): string {
  const missing = `${JSON.stringify(path)} does not exist.`;
  let entries: ReturnType<typeof readEntries> = null;
  try {
    entries = readEntries(through(folder), 20_000);
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'ENOENT')) throw error;
  }
  if (entries === null) return missing;
  const nearest = entries
    .filter((entry) => !isGitDirName(entry.name))
    .map((entry) => (entry.folder ? `${entry.name}/` : entry.name))
    .map((known) => ({ known, far: distance(name.toLowerCase(), known.toLowerCase()) }))
    .sort((a, b) => a.far - b.far || (a.known < b.known ? -1 : 1))
    .slice(0, 5)
    .map(({ known }) => JSON.stringify(known));
  const parent = path.slice(0, Math.max(0, path.length - name.length - 1));
  const where = parent === '' ? 'the repository root' : JSON.stringify(parent);
  return nearest.length === 0 ? missing : `${missing} Nearest names in ${where}: ${nearest.join(', ')}.`;
}
