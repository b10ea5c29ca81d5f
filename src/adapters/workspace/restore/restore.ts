/** Restores files of the work tree to earlier states, without following links out of it. */

import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, rmdirSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { deletionsFirst, type FileState, type PathChange } from '../../../domain/changes/change.ts';
import { foldersOf, parseRepoPath, type RepoPath } from '../../../domain/changes/path.ts';
import { CutShort } from '../../../domain/errors/thrown.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import { type FileFailure, fileFailure, hasCode } from '../../../files/failures.ts';
import { below, inParent, openNamedPlace, type Place } from '../../../files/nofollow.ts';
import { writeFile } from '../../../files/nofollow-files.ts';
import { chunksOf, openRegular } from '../../../files/opened-file.ts';
import type { FileStat } from '../../../files/stat.ts';
import { Breath, checkTime } from '../../../files/time-limit.ts';
import { lookAt, viewing } from '../../../files/tree-view.ts';
import { KeptBlobs, MAX_HELD } from '../../../git/store/blobs.ts';
import {
  blobId,
  formatOf,
  lfsPointer,
  sha256OfChunks,
  stateOnDisk,
} from '../../../git/store/object-store.ts';
import { readRunStart } from '../run-start.ts';

/** Restores files to recorded states. */
export interface Restorer {
  /** Prepares for these states, so that queries and restores of them are cheap. */
  readAhead(states: readonly FileState[]): Promise<void>;
  /** The one of `states` that the path is in now, by exact bytes and mode; undefined if it is in none of them. */
  stateAmong(path: string, states: readonly (FileState | null)[]): Promise<FileState | null | undefined>;
  /** Why a state cannot be restored; null if it can. */
  whyNot(path: string, state: FileState | null): Promise<string | null>;
  /**
   * Writes a file or link in place of what is there; null removes it, and folders that become empty. Null on success,
   * otherwise the reason. `permissions` are those of a file that is not there, and the most that one keeps.
   */
  put(path: string, state: FileState | null, permissions?: number): Promise<string | null>;
  /** Recreates missing folders that were empty when the run began. Null on success, otherwise the reason. */
  putEmptyFolders(): Promise<string | null>;
}

/** Where to restore files, and where to get their contents. */
export interface RestorePlaces {
  /** Absolute path of the work tree, without links. */
  readonly root: string;
  /** The shadow repository of the run. */
  readonly shadowDir: string;
  /** The git dir through which its objects are read. Default: its own. */
  readonly objectsGitDir?: string;
  /** As `core.fileMode`: without it, the executable bit says nothing, and that of a file that is there stays. Default: true. */
  readonly fileMode?: boolean;
  /** Opens folders whose permissions deny the access, and files. Default: they stay closed. */
  readonly closed?: Pick<ClosedPlaces, 'open'>;
}

/** Restores paths of the work tree to their state before these changes, and says why each of the others could not be restored. */
export async function restoreAll(
  changes: readonly PathChange[],
  places: RestorePlaces,
): Promise<Map<string, string>> {
  const restorer = openRestorer(places);
  await restorer.readAhead(changes.flatMap(({ before }) => before ?? []));
  const whys = new Map<string, string>();
  for (const { path, before } of deletionsFirst(changes, (change) => change.before)) {
    const why = (await restorer.whyNot(path, before)) ?? (await restorer.put(path, before));
    if (why !== null) whys.set(path, why);
  }
  return whys;
}

/** The same. Null on success, otherwise the first path with its reason. */
export async function revertChanges(
  places: RestorePlaces,
  changes: readonly PathChange[],
): Promise<string | null> {
  for (const [path, why] of await restoreAll(changes, places)) return `${JSON.stringify(path)}: ${why}`;
  return null;
}

/** Opens a restorer. */
export function openRestorer({
  root,
  shadowDir,
  objectsGitDir = shadowDir,
  fileMode = true,
  closed = { open: () => false },
}: RestorePlaces): Restorer {
  const kept = readRunStart(shadowDir);
  const emptyFolders = new Set(kept.status === 'ok' ? kept.start.emptyFolders : []);
  const closedToOthers = new Set(kept.status === 'ok' ? kept.start.closedToOthers : []);
  const make = (folder: RepoPath) => makeFolder(root, folder, closedToOthers.has(folder) ? 0o700 : 0o777);
  const blobs = new KeptBlobs(objectsGitDir);
  const breath = new Breath();
  const putLarge = async (id: string, put: (descriptor: number) => FileFailure | null) => {
    // The disk of the run directory has the room, which that of temporary files may not have.
    const temporary = join(shadowDir, `put-back-${randomBytes(8).toString('hex')}`);
    let descriptor: number | null = null;
    try {
      descriptor = openSync(temporary, 'wx+', 0o600);
      unlinkSync(temporary);
      await blobs.writeTo(descriptor, id);
      return put(descriptor);
    } catch (error) {
      if (error instanceof CutShort) throw error;
      return fileFailure(
        'crashed',
        `its content cannot be written out: ${error instanceof Error ? error.message : String(error)}`,
      );
    } finally {
      if (descriptor !== null) closeSync(descriptor);
    }
  };
  return {
    readAhead: (states) => blobs.readAhead(states),
    async stateAmong(path, states) {
      await breath.after(1);
      const among = () => stateOf(path, states, { root, blobs, fileMode });
      const state = await among();
      return state === undefined && closed.open(path, 'look') ? among() : state;
    },
    async whyNot(path, state) {
      const parsed = parseRepoPath(path);
      if (!parsed.ok) return parsed.message;
      const held = state && (await blobs.heldBy(state));
      return held?.status === 'lost' ? held.why : null;
    },
    async put(path, state, permissions) {
      await breath.after(1, state?.size);
      const act = () =>
        guarded(path, async (safe) => {
          const held = state && (await blobs.heldBy(state));
          if (state === null || held === null || held.status === 'no_file')
            return remove(root, safe, emptyFolders);
          for (const above of [...foldersOf(safe)].reverse())
            if (closedToOthers.has(above)) make(above as RepoPath);
          const how = {
            ...state,
            fileMode,
            permissions: permissions ?? (state.isPrivate ? 0o600 : undefined),
          };
          if (held.status === 'bytes') return put(root, safe, how, held.bytes);
          if (held.status === 'lost') return fileFailure('not_found', held.why);
          return putLarge(held.id, (descriptor) => put(root, safe, how, { descriptor }));
        });
      const why = await act();
      return why !== null && closed.open(path, 'write') ? act() : why;
    },
    async putEmptyFolders() {
      for (const folder of emptyFolders) {
        await breath.after(1);
        if (lookAt(root, folder).status !== 'absent') continue;
        const failure = await guarded(folder, make);
        if (failure !== null) return failure;
      }
      return null;
    },
  };
}

/** The path comes from a journal that anyone may have written. */
async function guarded(
  path: string,
  work: (safe: RepoPath) => FileFailure | null | Promise<FileFailure | null>,
): Promise<string | null> {
  checkTime();
  const parsed = parseRepoPath(path);
  if (!parsed.ok) return parsed.message;
  return (await work(parsed.path))?.message ?? null;
}

interface KeptContents {
  readonly root: string;
  readonly blobs: KeptBlobs;
  readonly fileMode: boolean;
}

/** The one of the states that the path is in. If there is a folder, its files appear as changes of their own. */
async function stateOf(path: string, states: readonly (FileState | null)[], contents: KeptContents) {
  const { root, blobs } = contents;
  const maxBytes = Math.max(0, ...states.map((state) => state?.size ?? 0));
  const [id = ''] = states.flatMap((state) => state?.blob ?? []);
  const now = await stateOnDisk(root, path, formatOf(id), maxBytes);
  if (now === undefined) return undefined;
  for (const state of states) {
    const isIt =
      now !== null
        ? state !== null && (await isSame(path, { now, state }, contents))
        : state === null || (await blobs.heldBy(state)).status === 'no_file';
    if (isIt) return state;
  }
  return undefined;
}

async function isSame(
  path: string,
  { now, state }: { now: FileState; state: FileState },
  { root, blobs, fileMode }: KeptContents,
): Promise<boolean> {
  const areFiles = now.mode.startsWith('100') && state.mode.startsWith('100');
  if (now.size !== state.size || !(now.mode === state.mode || (areFiles && !fileMode))) return false;
  if (now.blob === (state.raw ?? state.blob)) return true;
  if (state.raw !== undefined || now.size > MAX_HELD || now.mode === '120000') return false;
  const held = await blobs.heldBy(state);
  if (held.status === 'bytes') return blobId(held.bytes, formatOf(now.blob)) === now.blob;
  const opening = openRegular(root, path);
  if (opening.status !== 'open') return false;
  try {
    const pointer = lfsPointer(await sha256OfChunks(chunksOf(opening.file)), now.size);
    return blobId(pointer, formatOf(now.blob)) === state.blob;
  } finally {
    closeSync(opening.file.descriptor);
  }
}

function remove(root: string, path: RepoPath, emptyFolders: ReadonlySet<string>): FileFailure | null {
  const failure = inParent(root, path, 'existing', unlinkIn);
  if (failure) return failure.reason === 'not_found' ? null : failure;
  for (const folder of foldersOf(path)) {
    if (emptyFolders.has(folder) || !removeIfEmpty(root, folder as RepoPath)) break;
  }
  return null;
}

function unlinkIn(place: Place): FileFailure | null {
  const there = openNamedPlace(place);
  if (there === null) return null;
  if ('status' in there) return there;
  closeSync(there.descriptor);
  if (!there.stat.isDirectory()) unlinkSync(below(place.folder, place.name));
  return null;
}

/** False if it is not empty, or cannot be removed. */
function removeIfEmpty(root: string, folder: RepoPath): boolean {
  const removed = inParent(root, folder, 'existing', ({ folder: parent, name }) => {
    try {
      rmdirSync(below(parent, name));
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST', 'EBUSY')) return false;
      throw error;
    }
  });
  return removed === true;
}

function put(
  root: string,
  path: RepoPath,
  { mode, permissions, fileMode }: FileState & { permissions: number | undefined; fileMode: boolean },
  contents: Buffer | { readonly descriptor: number },
): FileFailure | null {
  const isLink = mode === '120000';
  for (const above of foldersOf(path)) if (kindAt(root, above) === 'special') clear(root, above as RepoPath);
  const isThere = kindAt(root, path) === 'file';
  const failure = isLink || !isThere ? clear(root, path) : null;
  if (failure) return failure;
  if (kindAt(root, path) === 'folder')
    return fileFailure('path_refused', 'a folder with other files is in its place');
  // The target of a link is never that large.
  if (!isLink || 'descriptor' in contents) {
    const executable = isThere && !fileMode ? undefined : mode === '100755';
    const written = writeFile(root, path, contents, executable, permissions);
    return written.status === 'failed' ? written : null;
  }
  return inParent(root, path, 'make', ({ folder, name }) => {
    symlinkSync(contents, below(folder, name));
    return null;
  });
}

function kindAt(root: string, path: string): FileStat['kind'] | null {
  const look = lookAt(root, path);
  return look.status === 'seen' ? look.stat.kind : null;
}

/**
 * Removes a file, a link or a special file, or a folder in which there is nothing that git would list: pipes and empty folders
 * are no changes of their own, and would stay in the way.
 */
function clear(root: string, path: RepoPath): FileFailure | null {
  checkTime();
  if (kindAt(root, path) === 'folder') {
    const listing = viewing(root, (view) => view.listFolder(path));
    for (const { name, folder, special } of listing.status === 'seen' ? listing.entries : [])
      if (folder || special) clear(root, `${path}/${name}` as RepoPath);
    removeIfEmpty(root, path);
    return null;
  }
  const failure = inParent(root, path, 'existing', unlinkIn);
  return failure?.reason === 'not_found' ? null : failure;
}

function makeFolder(root: string, path: RepoPath, mode: number): FileFailure | null {
  return inParent(root, path, 'make', ({ folder, name }) => {
    if (lookAt(root, path).status === 'absent') mkdirSync(below(folder, name), { mode });
    return null;
  });
}
