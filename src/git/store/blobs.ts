/** Reads contents back from the shadow repository. */

import { runGit } from '../git.ts';

/**
 * Each wanted id with its bytes; null for what is missing, as in a partial clone or when the repository has moved away, and for
 * what has more than `maxBytes` bytes: who names a content knows its size, and a few bytes in a store can stand for a gigabyte.
 */
export async function readBlobs(
  shadowDir: string,
  ids: Iterable<string>,
  maxBytes: (id: string) => number,
): Promise<Map<string, Buffer | null>> {
  const blobs = new Map<string, Buffer | null>();
  // An id comes from a journal; a line of its own is all that it may be.
  const named = [...new Set(ids)].filter((id) => /^[0-9a-f]+$/.test(id));
  if (named.length === 0) return blobs;
  for (const id of named) blobs.set(id, null);
  const sizes = await runGit({
    cwd: shadowDir,
    args: [`--git-dir=${shadowDir}`, 'cat-file', '--batch-check=%(objecttype) %(objectsize)'],
    input: Buffer.from(named.map((id) => `${id}\n`).join('')),
  });
  const lines = sizes.toString('latin1').split('\n');
  const known = named.filter((id, at) => {
    const size = /^blob (\d+)$/.exec(lines[at] ?? '')?.[1];
    return size !== undefined && Number(size) <= maxBytes(id);
  });
  if (known.length === 0) return blobs;
  const answer = await runGit({
    cwd: shadowDir,
    args: [`--git-dir=${shadowDir}`, 'cat-file', '--batch'],
    input: Buffer.from(known.map((id) => `${id}\n`).join('')),
  });
  let at = 0;
  for (const id of known) {
    const end = answer.indexOf('\n', at);
    const [, type, size] = answer.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (type === 'missing') blobs.set(id, null);
    else {
      blobs.set(id, type === 'blob' ? answer.subarray(at, at + Number(size)) : null);
      at += Number(size) + 1;
    }
  }
  return blobs;
}

/**
 * The lines of a text with their line endings, bytes as latin1 characters. Null when there is no content, or when git would
 * call it binary.
 */
export function textLines(content: Buffer | null): string[] | null {
  if (content === null || content.subarray(0, BINARY_PROBE).includes(0)) return null;
  return content.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Bytes in which git looks for a NUL. */
const BINARY_PROBE = 8_000;
