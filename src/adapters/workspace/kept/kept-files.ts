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
import { FILLED_FOLDERS } from '../../../domain/packages/managers.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';
import { sentence } from '../../../domain/text/words.ts';
import { chunksOf, openRegular, openRegularIn, readUpTo } from '../../../files/opened-file.ts';
import { readRegularFile } from '../../../files/regular-file.ts';
import { replaceFile } from '../../../files/replace-file.ts';
import { invisible } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import { lookAt, type TreeView, viewing } from '../../../files/tree-view.ts';
import { blobId, blobIdOfChunks, type ObjectFormat } from '../../../git/store/object-store.ts';

const MIB = 1024 * 1024;
const MAX_FILE_BYTES = MIB;
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
        /** Base64. */
        bytes: z.string(),
      }),
    )
    .max(MAX_FILES),
  /** Ignored files that are too large to be kept, with their ctime in ns. */
  unkept: z.array(z.strictObject({ path: PathChange.shape.path, ctimeNs: z.string() })).default([]),
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
type KeptDocument = z.infer<typeof KeptDocument>;
/** What was kept of one work tree. */
export type KeptFiles = Omit<KeptDocument, 'root'>;
/** A file whose changes are over a limit. */
type FileOverLimit = KeptDocument['over'][number];
/** A file as it was before the run. */
type KeptFile = KeptDocument['files'][number];

/** Where the files are, and the shadow repository of the run. */
export interface KeptPlaces {
  readonly root: string;
  readonly shadowDir: string;
  readonly format: ObjectFormat;
}

const fileOf = (shadowDir: string) => join(dirname(shadowDir), 'kept-files');

/** Keeps ignored files. `ignored` is as git lists it: a folder that is ignored as a whole ends with a slash. */
export function keepFiles({ root, shadowDir, format }: KeptPlaces, ignored: readonly string[]): void {
  const files: KeptFile[] = [];
  const unkept: KeptDocument['unkept'] = [];
  let left = MAX_BYTES;
  viewing(root, (view) => {
    for (const path of filesBelow(view, ignored)) {
      if (!parseRepoPath(path).ok) continue;
      const found = files.length === MAX_FILES ? null : readSmall(view, path);
      if (found === null || found.bytes.length > left) {
        unkept.push({ path, ctimeNs: ctimeIn(view, path) });
        continue;
      }
      const { bytes, mode, permissions } = found;
      const before = { mode, blob: blobId(bytes, format), size: bytes.length };
      files.push({ path, before, permissions, bytes: bytes.toString('base64') });
      left -= bytes.length;
    }
  });
  if (files.length + unkept.length > 0)
    replaceFile(fileOf(shadowDir), JSON.stringify({ root, files, unkept }));
}

/** It changes with every change of a file, and cannot be set. */
function ctimeIn(view: TreeView, path: string): string {
  const look = view.lookAt(path);
  return look.status === 'seen' ? look.stat.ctimeNs.toString() : '';
}

/** Those near the top come first, so that folders with many files take no place from them. */
function* filesBelow(view: TreeView, ignored: readonly string[]): Generator<string> {
  yield* ignored.filter((path) => !path.endsWith('/'));
  const folders = ignored.flatMap((path) => (path.endsWith('/') ? [path.slice(0, -1)] : []));
  let entries = 0;
  for (const folder of folders) {
    const listing = FILLED_FOLDERS.has(nameOf(folder)) ? null : view.listFolder(folder);
    if (listing?.status !== 'seen' || listing.entries.some(({ name }) => isGitDirName(name))) continue;
    entries += listing.entries.length;
    if (entries > MAX_ENTRIES) return;
    for (const { name, folder: isFolder, special } of listing.entries) {
      if (isFolder) folders.push(`${folder}/${name}`);
      else if (!special) yield `${folder}/${name}`;
    }
  }
}

/** Null for a larger file, for what is neither file nor link, and for what cannot be read. */
function readSmall(view: TreeView, path: string) {
  const link = view.readLink(path);
  if (link.status === 'seen') return { bytes: link.target, mode: '120000' as const, permissions: 0o777 };
  const opening = openRegularIn(view, path);
  if (opening.status !== 'open') return null;
  const { descriptor, stat } = opening.file;
  try {
    const bytes = readUpTo(descriptor, stat.size, MAX_FILE_BYTES);
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
  const kept = keptFiles(root, shadowDir);
  if (kept.status === 'failed') return 0;
  const { unkept } = kept;
  const breath = new Breath();
  const files: KeptFile[] = [];
  let differing = 0;
  for (const file of kept.files) {
    const look = lookAt(root, file.path);
    const now = viewing(root, (view) => readSmall(view, file.path));
    await breath.after(1, now?.bytes.length);
    const after = now && { mode: now.mode, blob: blobId(now.bytes, format), size: now.bytes.length };
    if (!sameState(file.before, after)) differing += 1;
    // A file that is large now, or cannot be read, is in a state that is not known.
    const isUnknown = look.status === 'unreadable' || (look.status === 'seen' && look.stat.kind === 'file');
    files.push({ ...file, after: after === null && isUnknown ? undefined : after });
  }
  const write = (over: readonly FileOverLimit[]) =>
    replaceFile(fileOf(shadowDir), JSON.stringify({ root, files, unkept, over }));
  if (beforeOver.length > 0) {
    write(beforeOver);
    write(await statesAfter(root, format, beforeOver));
  } else if (differing + unkept.length > 0) write([]);
  else rmSync(fileOf(shadowDir), { force: true });
  return differing + unkept.length + beforeOver.length;
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
    const opening = openRegular(root, path);
    if (opening.status !== 'open') {
      found.push({ path, before, ...(opening.status === 'absent' ? { after: null } : {}) });
      continue;
    }
    const { descriptor, stat } = opening.file;
    try {
      if (stat.size > unread) {
        found.push({ path, before });
        continue;
      }
      unread -= stat.size;
      const blob = await blobIdOfChunks(chunksOf(opening.file), stat.size, format);
      const mode = stat.executable ? ('100755' as const) : ('100644' as const);
      found.push({ path, before, after: { mode, blob, size: stat.size } });
    } finally {
      closeSync(descriptor);
    }
  }
  return found;
}

/** What was kept of this work tree; `unkept` are those that have changed. Anyone may have written it. */
export function keptFiles(root: string, shadowDir: string): ({ status: 'ok' } & KeptFiles) | Failed {
  const file = fileOf(shadowDir);
  const found = readRegularFile(file, MAX_JSON_BYTES);
  if (found.status === 'failed') return found.missing ? NOTHING : failed(sentence(`${file} ${found.why}`));
  const kept = KeptDocument.safeParse(jsonOrUndefined(found.bytes.toString('utf8')));
  if (!kept.success) return failed(`${file} is damaged. Remove it to undo the run without it.`);
  if (kept.data.root !== root) return NOTHING;
  const { unkept, ...others } = kept.data;
  return viewing(root, (view) => ({
    status: 'ok',
    ...others,
    unkept: unkept.filter(({ path, ctimeNs }) => ctimeIn(view, path) !== ctimeNs),
  }));
}

const NOTHING = { status: 'ok' as const, files: [], unkept: [], over: [] };
