/**
 * `kept-files` in the run directory, which only undo reads: small files that git ignores, such as `.env`, as they were before
 * anything ran, and what became of files over a limit. Removed at the end if there is nothing to restore.
 */

import { closeSync, fstatSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { FileState, PathChange, sameState } from '../../../domain/changes/change.ts';
import { isGitDirName, nameOf, parseRepoPath } from '../../../domain/changes/path.ts';
import { type Failed, failed } from '../../../domain/failed.ts';
import { FILLED_FOLDERS } from '../../../domain/packages.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';
import { sentence } from '../../../domain/text/words.ts';
import { openRegularIn, readUpTo } from '../../../files/opened-file.ts';
import { readRegularFile } from '../../../files/regular-file.ts';
import { replaceFile } from '../../../files/replace-file.ts';
import { invisible } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import { type TreeView, viewing } from '../../../files/tree-view.ts';
import { blobId, type ObjectFormat, stateOnDisk } from '../../../git/store/object-store.ts';

const MIB = 1024 * 1024;
/** Larger ignored files are not kept. */
export const MAX_IGNORED_BYTES = MIB;
const MAX_BYTES = 64 * MIB;
const MAX_FILES = 4_000;
const MAX_ENTRIES = 20_000;
const MAX_JSON_BYTES = 128 * MIB;

const KeptDocument = z.strictObject({
  /** The work tree. */
  root: z.string(),
  files: z
    .array(
      z.strictObject({
        path: PathChange.shape.path,
        before: FileState,
        /** What the run left; absent while that is not known. */
        after: FileState.nullable().optional(),
        permissions: z.int().min(0).max(0o777),
        /** It was changed between two processes of the run, by the first or by somebody else. */
        isUnsure: z.literal(true).optional(),
        /** Base64. */
        bytes: z.string(),
      }),
    )
    .max(MAX_FILES),
  /** Ignored files that are too large to be kept, and folders that were not read. */
  unkept: z
    .array(
      z.strictObject({
        path: PathChange.shape.path,
        /** In ns; null for a folder that work is expected to change, so that only its absence counts. */
        ctimeNs: z.string().nullable(),
        /** In bytes; null for a folder. */
        size: z.int().nonnegative().nullable(),
      }),
    )
    .default([]),
  /** Files whose changes are over a limit of the run, which stored none of them. */
  over: z
    .array(
      z.strictObject({
        path: PathChange.shape.path,
        before: FileState.nullable(),
        /** What the run left; absent if there was no time to look. */
        after: FileState.nullable().optional(),
      }),
    )
    .default([]),
});
/** What was kept of one work tree. */
export type KeptFiles = z.infer<typeof KeptDocument>;
/** A file whose changes are over a limit. */
type FileOverLimit = KeptFiles['over'][number];
/** A file as it was before the run. */
type KeptFile = KeptFiles['files'][number];

/** Where the files are, and the shadow repository of the run. */
export interface KeptPlaces {
  readonly root: string;
  readonly shadowDir: string;
  readonly format: ObjectFormat;
}

const fileOf = (shadowDir: string) => join(dirname(shadowDir), 'kept-files');

/**
 * Keeps ignored files. `ignored` is as git lists it: a folder that is ignored as a whole ends with a slash. In a run that goes on
 * after its end, those that its end has let go.
 */
export function keepFiles({ root, shadowDir, format }: KeptPlaces, ignored: readonly string[]): void {
  const read = readKept(shadowDir);
  if (read.status === 'failed') return;
  const { kept = { root, files: [], unkept: [], over: [] } } = read;
  // Of a run that was killed, all are there, and the first run's in another checkout are known nowhere else.
  if (kept.root !== root || kept.files.some(({ after }) => after === undefined)) return;
  const known = new Set([...kept.files, ...kept.unkept].map(({ path }) => path));
  const files = [...kept.files];
  const unkept = [...kept.unkept];
  let left = files.reduce((bytes, { before }) => bytes - before.size, MAX_BYTES);
  viewing(root, (view) => {
    for (const { path, folder } of entriesBelow(view, ignored)) {
      if (known.has(path) || !parseRepoPath(path).ok) continue;
      const found = folder !== undefined || files.length === MAX_FILES ? null : readSmall(view, path);
      if (found === null || found.bytes.length > left) {
        const { ctimeNs, size } = statOf(view, path) ?? { ctimeNs: '', size: 0 };
        unkept.push(
          folder === undefined
            ? { path, ctimeNs, size }
            : { path, ctimeNs: folder === 'unread' ? ctimeNs : null, size: null },
        );
        continue;
      }
      const { bytes, mode, permissions } = found;
      const before = { mode, blob: blobId(bytes, format), size: bytes.length };
      files.push({ path, before, permissions, bytes: bytes.toString('base64') });
      left -= bytes.length;
    }
  });
  if (files.length + unkept.length > 0)
    replaceFile(fileOf(shadowDir), JSON.stringify({ ...kept, files, unkept }));
}

/** The ctime changes with every change of a file, and cannot be set. */
function statOf(view: TreeView, path: string) {
  const look = view.lookAt(path);
  if (look.status === 'absent') return null;
  return look.status === 'seen'
    ? { ctimeNs: look.stat.ctimeNs.toString(), size: look.stat.size, isFolder: look.stat.kind === 'folder' }
    : { ctimeNs: '', size: 0, isFolder: true };
}

/** `folder` is why the entries of one are not listed. */
interface Entry {
  readonly path: string;
  readonly folder?: 'filled' | 'unread';
}

/** Those near the top come first, so that folders with many files take no place from them. */
function* entriesBelow(view: TreeView, ignored: readonly string[]): Generator<Entry> {
  for (const path of ignored) if (!path.endsWith('/')) yield { path };
  const folders = ignored.flatMap((path) => (path.endsWith('/') ? [path.slice(0, -1)] : []));
  let entries = 0;
  for (const path of folders) {
    const listing = FILLED_FOLDERS.has(nameOf(path)) ? null : view.listFolder(path);
    if (listing === null || (listing.status === 'seen' && listing.entries.some(isGitDir)))
      yield { path, folder: 'filled' };
    else if (listing.status !== 'seen' || entries + listing.entries.length > MAX_ENTRIES)
      yield { path, folder: 'unread' };
    else {
      entries += listing.entries.length;
      for (const { name, folder, special } of listing.entries) {
        if (folder) folders.push(`${path}/${name}`);
        else if (!special) yield { path: `${path}/${name}` };
      }
    }
  }
}

const isGitDir = ({ name }: { readonly name: string }) => isGitDirName(name);

/** Null for a larger file, for what is neither file nor link, and for what cannot be read. */
function readSmall(view: TreeView, path: string) {
  const link = view.readLink(path);
  if (link.status === 'seen') return { bytes: link.target, mode: '120000' as const, permissions: 0o777 };
  const opening = openRegularIn(view, path);
  if (opening.status !== 'open') return null;
  const { descriptor, stat } = opening.file;
  try {
    const bytes = readUpTo(descriptor, stat.size, MAX_IGNORED_BYTES);
    const mode = stat.executable ? ('100755' as const) : ('100644' as const);
    return bytes && { bytes, mode, permissions: fstatSync(descriptor).mode & 0o777 };
  } catch (error) {
    invisible(error);
    return null;
  } finally {
    closeSync(descriptor);
  }
}

/** Adds what the run has left, when it changes files no more, also of files that are over a limit. Returns how many differ. */
export async function settleFiles(
  { root, shadowDir, format }: KeptPlaces,
  beforeOver: readonly Omit<FileOverLimit, 'after'>[],
): Promise<number> {
  const kept = keptFiles(root, shadowDir, true);
  if (kept.status === 'failed') return 0;
  const { unkept } = kept;
  const breath = new Breath();
  // What another checkout had before the run is known nowhere else, and has not changed here.
  const isHere = kept.root === root;
  const files: KeptFile[] = isHere ? [] : kept.files;
  let differing = 0;
  for (const file of isHere ? kept.files : []) {
    const after = await stateOnDisk(root, file.path, format, MAX_IGNORED_BYTES);
    await breath.after(1, after?.size);
    if (after === undefined || !sameState(file.before, after)) differing += 1;
    files.push({ ...file, after });
  }
  const write = (over: readonly FileOverLimit[]) =>
    replaceFile(fileOf(shadowDir), JSON.stringify({ root: kept.root, files, unkept, over }));
  if (beforeOver.length > 0) {
    write(beforeOver);
    write(await statesAfter(root, format, beforeOver));
  } else if (!isHere) return 0;
  else if (differing + unkept.length > 0) write([]);
  else rmSync(fileOf(shadowDir), { force: true });
  return differing + unkept.length + beforeOver.length;
}

/** Notes which files have changed since the run was last at work, before it goes on in its checkout, which may have been moved. */
export async function doubtFiles({ root, shadowDir, format }: KeptPlaces): Promise<void> {
  const read = readKept(shadowDir);
  if (read.status === 'failed' || read.kept === undefined) return;
  const files: KeptFile[] = [];
  for (const file of read.kept.files) {
    const now = await stateOnDisk(root, file.path, format, MAX_IGNORED_BYTES);
    const isKnown =
      now === null || [file.before, file.after].some((one) => one && now && sameState(one, now));
    files.push(isKnown ? file : { ...file, isUnsure: true });
  }
  replaceFile(fileOf(shadowDir), JSON.stringify({ ...read.kept, root, files }));
}

/** Bytes of all files over a limit together: sparse files of any size take a command no time. */
const MOST_HASHED = 1024 ** 3;

/** Hashes files, and stores none of them. */
async function statesAfter(
  root: string,
  format: ObjectFormat,
  files: readonly FileOverLimit[],
): Promise<FileOverLimit[]> {
  let unread = MOST_HASHED;
  const found: FileOverLimit[] = [];
  for (const { path, before } of files) {
    const after = await stateOnDisk(root, path, format, unread);
    unread -= after?.size ?? 0;
    found.push({ path, before, after });
  }
  return found;
}

/**
 * What was kept of this work tree; `unkept` are those that have changed. Anyone may have written it. `isNamed`: a person says that
 * this is the work tree, which has moved or is a copy; no file of it has the same ctime then.
 */
export function keptFiles(
  root: string,
  shadowDir: string,
  isNamed = false,
): ({ status: 'ok' } & KeptFiles) | Failed {
  const read = readKept(shadowDir);
  if (read.status === 'failed') return read;
  const { kept } = read;
  if (kept === undefined || !(kept.root === root || isNamed))
    return { status: 'ok', root, files: [], unkept: [], over: [] };
  const isHere = kept.root === root;
  return viewing(root, (view) => {
    const hasChanged = ({ path, ctimeNs, size }: KeptFiles['unkept'][number]) => {
      const now = statOf(view, path);
      if (now === null || (size === null && !now.isFolder)) return true;
      return isHere ? ctimeNs !== null && now.ctimeNs !== ctimeNs : size !== null && now.size !== size;
    };
    return { status: 'ok', ...kept, unkept: kept.unkept.filter(hasChanged) };
  });
}

function readKept(shadowDir: string): { status: 'ok'; kept?: KeptFiles } | Failed {
  const file = fileOf(shadowDir);
  const found = readRegularFile(file, MAX_JSON_BYTES);
  if (found.status === 'failed')
    return found.missing ? { status: 'ok' } : failed(sentence(`${file} ${found.why}`));
  const kept = KeptDocument.safeParse(jsonOrUndefined(found.bytes.toString('utf8')));
  if (!kept.success) return failed(`${file} is damaged. Remove it to undo the run without it.`);
  return { status: 'ok', kept: kept.data };
}

/** Ignored files and folders that were there before the run and are gone; of a file that was not kept, it is enough to have changed. */
export function goneIgnored(root: string, shadowDir: string, isNamed = false): GonePath[] {
  const kept = keptFiles(root, shadowDir, isNamed);
  if (kept.status === 'failed') return [];
  return viewing(root, (view) => [
    ...kept.files.filter(({ path }) => statOf(view, path) === null).map(({ path }) => ({ path, lost: null })),
    ...kept.unkept
      .filter(({ path, size }) => size !== null || !statOf(view, path)?.isFolder)
      .map(({ path, ctimeNs, size }) => ({
        path,
        lost: ctimeNs === null ? null : (size ?? ('unknown' as const)),
      })),
  ]);
}

/** What is gone. `lost` is the size in bytes of contents that were not kept; null if nothing is lost that work cannot make again. */
export interface GonePath {
  readonly path: string;
  readonly lost: number | 'unknown' | null;
}
