/** Reads a patch of ours back: which hunks belong to which changed file. */

import { parsePatch, type StructuredPatchHunk } from 'diff';
import type { PatchedFile, PatchHunk } from '../../../domain/changes/attribution.ts';
import type { ChangedFile } from '../../../domain/changes/changed-file.ts';

/** Larger patches are not taken apart, nor those with more lines: each becomes an object. */
export const MAX_PARSED_PATCH_BYTES = 8 * 1024 * 1024;
const MAX_PATCH_LINES = 250_000;

/**
 * `files` are the changed files in the order of the patch. Texts are bytes as latin1 characters. Null when the patch is too
 * large, or when its parts are not those of the files.
 */
export function patchedFiles(patch: Uint8Array, files: readonly ChangedFile[]): PatchedFile[] | null {
  if (patch.length > MAX_PARSED_PATCH_BYTES || linesWithin(patch, MAX_PATCH_LINES) === null) return null;
  const parts = patch.length === 0 ? [] : parsePatch(Buffer.from(patch).toString('latin1'));
  let next = 0;
  const patched = files.map((file) => {
    const part = parts[next];
    next += 1;
    const hunks = (part?.hunks ?? []).map(asInHeader);
    // A file that became a link, or a link that became a file, is deleted and made anew.
    if (part?.isDelete && file.kind !== 'delete') {
      hunks.push(...(parts[next]?.hunks ?? []).map(asInHeader));
      next += 1;
    }
    const isBinary = file.additions === null;
    return { file, hunks: isBinary ? null : hunks };
  });
  return next === parts.length ? patched : null;
}

/** How many line ends there are; null for more than `most`, beyond which nothing is counted. */
export function linesWithin(bytes: Uint8Array, most: number): number | null {
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

/** Where a side has no lines, a header names the line before; the parser names the line after. */
function asInHeader({ oldStart, oldLines, newStart, newLines, lines }: StructuredPatchHunk): PatchHunk {
  return {
    oldStart: oldLines === 0 ? oldStart - 1 : oldStart,
    oldLines,
    newStart: newLines === 0 ? newStart - 1 : newStart,
    newLines,
    lines,
  };
}
