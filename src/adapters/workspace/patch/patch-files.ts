/** Reads back one of our own patches: which hunks belong to which changed file. */

import type { ChangedFile } from '../../../domain/changes/change.ts';
import { readPatchText } from '../../../domain/changes/patch-text.ts';
import type { PatchedFile } from '../../../domain/changes/provenance.ts';
import { decodeName } from '../../../files/names.ts';

/** Larger patches, and those with more lines, are not parsed: each line becomes an object. */
const MAX_PARSED_PATCH_BYTES = 8 * 1024 * 1024;
const MAX_PATCH_LINES = 250_000;

/**
 * `files` are the changed files in the order of the patch. Texts are bytes as latin1 characters. Null if the patch is too
 * large, or if its sections do not match the files.
 */
export function patchedFiles(patch: Uint8Array, files: readonly ChangedFile[]): PatchedFile[] | null {
  if (patch.length > MAX_PARSED_PATCH_BYTES || linesWithin(patch, MAX_PATCH_LINES) === null) return null;
  if (patch.length === 0) return files.length === 0 ? [] : null;
  const read = readPatchText(Buffer.from(patch).toString('latin1'), { hunks: true });
  if (read.status === 'failed' || read.files.length !== files.length) return null;
  const patched = files.flatMap((file, at) => {
    const part = read.files[at];
    return part && nameOf(part.path) === file.path ? [{ file, hunks: part.hunks ?? null }] : [];
  });
  return patched.length === files.length ? patched : null;
}

function nameOf(latin1: string): string {
  return decodeName(Buffer.from(latin1, 'latin1'));
}

/** Number of line endings; null if there are more than `most`, after which counting stops. */
function linesWithin(bytes: Uint8Array, most: number): number | null {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1 && count <= most; at = bytes.indexOf(NEWLINE, at + 1))
    count += 1;
  return count > most ? null : count;
}

const NEWLINE = 10;

/** A line of a hunk as text; bytes that are not UTF-8 become U+FFFD. */
export function lineText(line: string): string {
  return Buffer.from(line, 'latin1').toString('utf8');
}
