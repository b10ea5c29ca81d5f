/** Splits the patch in the page into files. Each file is only parsed when it is shown. */

import type { ChangedFile } from '../../src/domain/changes/change.ts';
import { type PatchHunk, readPatchText } from '../../src/domain/changes/patch-text.ts';
import { decoded } from '../visible.ts';

/** A file of the patch as text with one character per byte; null if it is not in the page. */
export interface PatchFile {
  readonly file: ChangedFile;
  readonly text: string | null;
}

/** The contents of one file of the patch, or why it cannot be shown. */
export type ParsedFile =
  | { readonly status: 'ok'; readonly hunks: readonly PatchHunk[]; readonly mode: string | null }
  | { readonly status: 'binary'; readonly mode: string | null }
  | { readonly status: 'failed'; readonly why: string };

/** The files in the result, each with its part of the patch. */
export function patchFiles(files: readonly ChangedFile[], patch: string): PatchFile[] {
  const parts = partsOf(patch);
  return files.map((file, at) => ({ file, text: parts[at] ?? null }));
}

/** A file that becomes a link has two parts with the same header, but counts as one file. */
function partsOf(patch: string): string[] {
  const parts: string[] = [];
  for (let from = 0; from < patch.length; ) {
    const next = patch.indexOf('\ndiff --git ', from);
    const end = next === -1 ? patch.length : next + 1;
    const part = patch.slice(from, end);
    const last = parts.at(-1);
    if (last !== undefined && headOf(last) === headOf(part)) parts[parts.length - 1] = last + part;
    else parts.push(part);
    from = end;
  }
  return parts;
}

function headOf(part: string): string {
  return part.slice(0, part.indexOf('\n'));
}

/** Parses one file, and compares its name with the one in the result. */
export function parsedFile({ file, text }: PatchFile): ParsedFile {
  if (text === null) return { status: 'failed', why: 'This file is not in the page; changes.patch has it.' };
  const read = readPatchText(text, { hunks: true });
  if (read.status === 'failed')
    return { status: 'failed', why: `This part of the patch cannot be read: ${read.why}.` };
  const [patched] = read.files;
  if (patched === undefined || decoded(patched.path) !== file.path)
    return { status: 'failed', why: 'The patch has another file in this place than the result says.' };
  const { before, after, hunks } = patched;
  const mode =
    before?.mode && after?.mode && before.mode !== after.mode ? `${before.mode} → ${after.mode}` : null;
  return hunks ? { status: 'ok', hunks, mode } : { status: 'binary', mode };
}
