/** Stores the content of files in the object store, in the form git would store it. */

import { closeSync } from 'node:fs';
import type { FileState } from '../../../domain/changes/change.ts';
import { sentence } from '../../../domain/text/sentence.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import {
  chunksOf,
  type OpenedFile,
  openRegular,
  openRegularIn,
  readWhole,
  statNow,
} from '../../../files/opened-file.ts';
import { type FileStat, sameStat } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import { TreeView } from '../../../files/tree-view.ts';
import type { ObjectStore } from '../../../git/store/object-store.ts';
import {
  type Conversion,
  NO_CONVERSION,
  streamWithoutCr,
  TextStats,
  toGit,
  turnsLineEndings,
} from '../baseline/conversion.ts';
import type { ChangeBudget } from './change-budget.ts';
import { isLfsPointer, lfsPointer, sha256OfChunks } from './lfs-pointer.ts';

/** A file to be stored. */
export interface Wanted {
  readonly path: string;
  readonly stat: FileStat;
  /** What is known about the path so far; null if nothing is. */
  readonly before: FileState | null;
  /** The blob that the user's index has for the path, or null. */
  readonly inIndex: string | null;
}

/** `stat` is null if the file kept changing and has to be examined again next time. */
export type Taken =
  | {
      status: 'ok';
      blob: string;
      size: number;
      /** Blob of the bytes on disk, if git would store different ones. */
      raw?: string;
      kind: 'file' | 'link';
      executable: boolean;
      stat: FileStat | null;
    }
  | { status: 'absent' }
  | { status: 'unreadable' }
  /** A limit on what a run may change does not permit it. */
  | { status: 'left_out' };

/** Where contents are read, how they are converted and where they are stored. */
export interface ContentSources {
  readonly root: string;
  readonly store: ObjectStore;
  readonly budget: Pick<ChangeBudget, 'fits' | 'count'>;
  /** Opens folders that their owner has closed since the start. */
  readonly closed: ClosedPlaces;
  conversions(paths: readonly string[]): Promise<ReadonlyMap<string, Conversion>>;
  /** Which of these paths the user's index stores as text with CRLF. */
  crlfInIndex(paths: readonly string[]): Promise<ReadonlySet<string>>;
  /** Reports that a path's content could not be stored as git would. */
  warn(warning: Warning): void;
}

/** Larger files are never held in memory, unless their encoding has to be converted. */
const STREAMED_BYTES = 16 * 1024 * 1024;

/** How often a file that changes while it is being read is read again. */
const ATTEMPTS = 4;

/** One scan of the tree, in which all requested files are opened. */
type Viewed = ContentSources & { readonly view: TreeView };

/** Stores all wanted files; every wanted path gets an answer. */
export function takeContents(
  wanted: readonly Wanted[],
  sources: ContentSources,
): Promise<Map<string, Taken>> {
  const view = new TreeView(sources.root);
  return takeAll(wanted, { ...sources, view }).finally(() => view.close());
}

async function takeAll(wanted: readonly Wanted[], sources: Viewed): Promise<Map<string, Taken>> {
  const taken = new Map<string, Taken>();
  const files = wanted.filter(({ stat }) => stat.kind === 'file').map(({ path }) => path);
  const conversions = files.length > 0 ? await sources.conversions(files) : new Map<string, Conversion>();
  const undecided: Wanted[] = [];
  const breath = new Breath();
  for (const want of wanted) {
    const conversion = conversions.get(want.path) ?? NO_CONVERSION;
    const crlfInIndex = want.inIndex === null ? false : null;
    const one = await takeOne(want, { conversion, crlfInIndex }, sources);
    if (one === 'ask_index') undecided.push(want);
    else taken.set(want.path, one);
    await breath.after(2, want.stat.size);
  }
  if (undecided.length === 0) return taken;
  const crlf = await sources.crlfInIndex(undecided.map(({ path }) => path));
  for (const want of undecided) {
    const conversion = conversions.get(want.path) ?? NO_CONVERSION;
    const one = await takeOne(want, { conversion, crlfInIndex: crlf.has(want.path) }, sources);
    if (one !== 'ask_index') taken.set(want.path, one);
    await breath.after(2, want.stat.size);
  }
  return taken;
}

/** Stores one file's bytes as they are on disk and returns their blob; null if they cannot be read. */
export async function keepBytes(path: string, sources: ContentSources): Promise<string | null> {
  const { root, store, closed } = sources;
  const opening = closed.insist(path, () => openRegular(root, path));
  if (opening.status !== 'open') return null;
  try {
    const { file } = opening;
    return file.stat.size > STREAMED_BYTES
      ? await store.writeStream(chunksOf(file), file.stat.size)
      : store.write(readWhole(file), null);
  } finally {
    closeSync(opening.file.descriptor);
  }
}

/** How to convert one file; `crlfInIndex` is null if it has not been looked up. */
interface Turning {
  readonly conversion: Conversion;
  readonly crlfInIndex: boolean | null;
}

async function takeOne(want: Wanted, turning: Turning, sources: Viewed): Promise<Taken | 'ask_index'> {
  if (!sources.budget.fits(want.path, want.stat.size, want.before?.size ?? null))
    return { status: 'left_out' };
  const taken = await readOne(want, turning, sources);
  if (taken === 'ask_index' || taken.status !== 'ok') return taken;
  const { path, before } = want;
  const isChanged = before?.blob !== taken.blob || before.raw !== taken.raw;
  return isChanged && !sources.budget.count(path, taken.size) ? { status: 'left_out' } : taken;
}

async function readOne(want: Wanted, turning: Turning, sources: Viewed): Promise<Taken | 'ask_index'> {
  const { closed, view } = sources;
  if (want.stat.kind === 'link') return closed.insist(want.path, () => takeLink(want, sources));
  for (let attempt = 1; ; attempt += 1) {
    const opening = closed.insist(want.path, () => openRegularIn(view, want.path));
    if (opening.status !== 'open') return opening;
    const { file } = opening;
    try {
      // It may have grown since it was examined.
      if (!sources.budget.fits(want.path, file.stat.size, want.before?.size ?? null))
        return { status: 'left_out' };
      const content = await takeContent(file, want, turning, sources);
      if (content === 'ask_index') return content;
      const still = sameStat(file.stat, statNow(file));
      if (content !== null && (still || attempt === ATTEMPTS)) {
        const { executable } = file.stat;
        return { status: 'ok', ...content, kind: 'file', executable, stat: still ? file.stat : null };
      }
      if (attempt > ATTEMPTS) return { status: 'unreadable' };
    } finally {
      closeSync(file.descriptor);
    }
  }
}

type Content = { blob: string; size: number; raw?: string };

/** Null if the file ended too early: the file never had the contents that were read. */
async function takeContent(
  file: OpenedFile,
  want: Wanted,
  turning: Turning,
  sources: ContentSources,
): Promise<Content | 'ask_index' | null> {
  const { store, warn } = sources;
  const { conversion, crlfInIndex } = turning;
  if (conversion.filter === 'lfs') return takeLfs(file, want, sources);
  if (file.stat.size > STREAMED_BYTES && !conversion.ident && conversion.encoding === null) {
    return takeStreamed(file, turning, { store, inIndex: want.inIndex });
  }
  const raw = readWhole(file);
  const converted = toGit(raw, conversion, crlfInIndex);
  if (converted.status === 'ask_index') return 'ask_index';
  if (converted.status === 'failed') {
    warn(
      warning(
        'WARN_NOT_CONVERTED',
        sentence(`${JSON.stringify(want.path)} is stored as it is on disk: ${converted.message}`),
      ),
    );
  }
  const bytes = converted.status === 'ok' ? converted.bytes : raw;
  const blob = store.write(bytes, want.inIndex);
  return bytes.equals(raw)
    ? { blob, size: raw.length }
    : { blob, size: raw.length, raw: store.write(raw, want.inIndex) };
}

async function takeStreamed(
  file: OpenedFile,
  { conversion, crlfInIndex }: Turning,
  { store, inIndex }: { store: ObjectStore; inIndex: string | null },
): Promise<Content | 'ask_index' | null> {
  const { size } = file.stat;
  let crlf = 0;
  if (conversion.lineEndings !== 'keep') {
    const stats = new TextStats();
    for await (const chunk of chunksOf(file)) stats.add(chunk);
    const turn = turnsLineEndings(stats, conversion.lineEndings, crlfInIndex);
    if (turn === 'ask_index') return turn;
    if (turn) crlf = stats.crlf;
  }
  const chunks = crlf > 0 ? streamWithoutCr(chunksOf(file)) : chunksOf(file);
  const blob = await store.writeStream(chunks, size - crlf, inIndex);
  if (blob === null || crlf === 0) return blob === null ? null : { blob, size };
  const raw = await store.writeStream(chunksOf(file), size, inIndex);
  return raw === null ? null : { blob, size, raw };
}

/** Git stores a pointer to the content; the content itself has to be pushed by git-lfs. */
async function takeLfs(file: OpenedFile, { inIndex }: Wanted, { store }: ContentSources): Promise<Content> {
  const { size } = file.stat;
  const raw = size <= 1024 ? readWhole(file) : null;
  if (raw && isLfsPointer(raw)) return { blob: store.write(raw, inIndex), size };
  return { blob: store.write(lfsPointer(await sha256OfChunks(chunksOf(file)), size), inIndex), size };
}

function takeLink({ path, stat, inIndex }: Wanted, { view, store }: Viewed): Taken {
  const link = view.readLink(path);
  if (link.status !== 'seen') return link;
  return {
    status: 'ok',
    blob: store.write(link.target, inIndex),
    size: link.target.length,
    kind: 'link',
    executable: false,
    // A link cannot be changed, only replaced, and its inode or ctime shows that.
    stat,
  };
}
