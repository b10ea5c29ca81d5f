/** Reads files of the work tree, and stores their bytes as they are and in the form that git commits. */

import { closeSync } from 'node:fs';
import type { FileMode, FileState } from '../../../domain/changes/change.ts';
import { chunksOf, type OpenedFile, openRegularIn, readWhole, statNow } from '../../../files/opened-file.ts';
import { sameStat } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import { TreeView } from '../../../files/tree-view.ts';
import {
  isLfsPointer,
  lfsPointer,
  type ObjectStore,
  sha256OfChunks,
} from '../../../git/store/object-store.ts';
import { CommittedForms } from './committed-forms.ts';
import type { Taken, Wanted, WorkTreeParts } from './parts.ts';

/** Larger files are never held in memory. */
const STREAMED_BYTES = 16 * 1024 * 1024;

/** How often a file that changes while it is being read is read again. */
const ATTEMPTS = 4;

/** Reads and stores all wanted files; every wanted path gets an answer. */
export async function takeContents(
  wanted: readonly Wanted[],
  parts: WorkTreeParts,
): Promise<Map<string, Taken>> {
  const taken = new Map<string, Taken>();
  if (wanted.length === 0) return taken;
  const forms = parts.mayConvert() ? new CommittedForms(parts) : null;
  const view = new TreeView(parts.git.root);
  const breath = new Breath();
  try {
    await forms?.ask(
      view,
      wanted.filter(({ stat }) => stat.kind === 'file').map(({ path }) => path),
    );
    for (const want of wanted) {
      taken.set(want.path, await takeOne(want, { ...parts, view, forms }));
      await breath.after(2, want.stat.size);
    }
    await forms?.turn(taken);
  } finally {
    view.close();
    forms?.close();
  }
  return taken;
}

type ContentReading = WorkTreeParts & { readonly view: TreeView; readonly forms: CommittedForms | null };

async function takeOne(want: Wanted, reading: ContentReading): Promise<Taken> {
  const { budget } = reading;
  const { path, stat, before } = want;
  if (!budget.fits(path, stat.size, before?.size ?? null)) return { status: 'left_out' };
  const taken = await readOne(want, reading);
  if (taken.status !== 'ok') return taken;
  const { state } = taken;
  const isChanged = before === null || (before.raw ?? before.blob) !== (state.raw ?? state.blob);
  if (isChanged && !budget.count(path, state.size)) return { status: 'left_out' };
  return taken;
}

async function readOne(want: Wanted, reading: ContentReading): Promise<Taken> {
  const { closed, view, store } = reading;
  const { path, stat } = want;
  if (stat.kind === 'link') {
    const link = view.readLink(path);
    if (link.status !== 'seen') return link;
    const blob = store.write(link.target, want.inIndex);
    // A link cannot be changed, only replaced, and its inode or ctime shows that.
    return { status: 'ok', state: { mode: '120000', blob, size: link.target.length }, stat, filter: null };
  }
  const filter = reading.forms?.filterOf(path) ?? null;
  for (let attempt = 1; ; attempt += 1) {
    const opening = closed.insist(path, () => openRegularIn(view, path));
    if (opening.status !== 'open') return opening;
    const { file } = opening;
    try {
      // It may have grown since it was looked at.
      if (!reading.budget.fits(path, file.stat.size, want.before?.size ?? null))
        return { status: 'left_out' };
      const state = await readOpened(file, want, reading);
      const still = sameStat(file.stat, statNow(file));
      if (state !== null && (still || attempt === ATTEMPTS)) {
        if (file.stat.isPrivate) state.isPrivate = true;
        return { status: 'ok', state, stat: still ? file.stat : null, filter };
      }
      if (attempt > ATTEMPTS) return { status: 'unreadable' };
    } finally {
      closeSync(file.descriptor);
    }
  }
}

/** Null if the file ended too early: it never had the contents that were read. */
async function readOpened(
  file: OpenedFile,
  { path, inIndex, isExecutable }: Wanted,
  { store, forms }: ContentReading,
): Promise<FileState | null> {
  const { size, executable } = file.stat;
  const mode: FileMode = (isExecutable ?? executable) ? '100755' : '100644';
  if (forms?.filterOf(path) === 'lfs') {
    const form = await lfsForm(file, inIndex, store);
    forms.drop(path);
    if (form !== null) return { mode, size, ...form };
  }
  if (size > STREAMED_BYTES) {
    const blob = await store.writeStream(chunksOf(file), size, inIndex);
    if (blob !== null) await forms?.keepStream(path, chunksOf(file));
    return blob === null ? null : { mode, blob, size };
  }
  const bytes = readWhole(file);
  forms?.keep(path, bytes);
  return { mode, blob: store.write(bytes, inIndex), size: bytes.length };
}

/**
 * Git commits a pointer to the content, which git-lfs has to push. Null for content that is a pointer itself. What the index does
 * not point to is stored as it is, since it may be nowhere else.
 */
async function lfsForm(
  file: OpenedFile,
  inIndex: string | null,
  store: ObjectStore,
): Promise<Pick<FileState, 'blob' | 'raw'> | null> {
  const { size } = file.stat;
  if (size <= 1024 && isLfsPointer(readWhole(file))) return null;
  const blob = store.write(lfsPointer(await sha256OfChunks(chunksOf(file)), size), inIndex);
  const raw = blob === inIndex ? null : await store.writeStream(chunksOf(file), size);
  return { blob, ...(raw === null ? {} : { raw }) };
}
