/** Reads contents back from the shadow repository. */

import { runGit } from '../git.ts';

/** Bytes of the contents that are there, in this store or one that it reads from. */
export async function sizesOf(gitDir: string, ids: Iterable<string>): Promise<Map<string, number>> {
  const wanted = [...new Set(ids)];
  const sizes = new Map<string, number>();
  if (wanted.length === 0) return sizes;
  const format = '%(objecttype) %(objectname) %(objectsize)';
  const listed = await askFor(gitDir, `--batch-check=${format}`, wanted);
  for (const [, id = '', size] of listed.toString('latin1').matchAll(/^blob ([0-9a-f]+) (\d+)$/gm))
    sizes.set(id, Number(size));
  return sizes;
}

/**
 * Each wanted id with its bytes; null if it is missing, as in a partial clone or after the repository was moved, or has more than
 * `maxBytes` bytes: callers know the size of the content they ask for, and a few bytes in a store can expand to a gigabyte. So
 * git is asked for the sizes first.
 */
export async function readBlobs(
  gitDir: string,
  ids: Iterable<string>,
  maxBytes: (id: string) => number,
): Promise<Map<string, Buffer | null>> {
  // Ids come from a journal, and each must be exactly one line.
  const named = [...ids].filter((id) => /^[0-9a-f]+$/.test(id));
  const blobs = new Map<string, Buffer | null>(named.map((id) => [id, null]));
  const sizes = await sizesOf(gitDir, blobs.keys());
  const wanted = [...blobs.keys()].filter((id) => (sizes.get(id) ?? Number.NaN) <= maxBytes(id));
  if (wanted.length === 0) return blobs;
  const printed = await askFor(gitDir, '--batch', wanted);
  let at = 0;
  for (const id of wanted) {
    // `id type size LF content LF`
    const begin = printed.indexOf('\n', at) + 1;
    const end = begin + (sizes.get(id) ?? 0);
    const header = printed.toString('latin1', at, begin - 1);
    if (header !== `${id} blob ${end - begin}`) throw new Error(`git cat-file printed ${header}`);
    blobs.set(id, printed.subarray(begin, end));
    at = end + 1;
  }
  return blobs;
}

function askFor(gitDir: string, batch: string, ids: readonly string[]): Promise<Buffer> {
  const input = Buffer.from(ids.map((id) => `${id}\n`).join(''));
  return runGit({ cwd: gitDir, args: [`--git-dir=${gitDir}`, 'cat-file', batch], input });
}
