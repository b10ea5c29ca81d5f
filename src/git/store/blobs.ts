/** Reads contents back from the shadow repository. */

import type { FileState } from '../../domain/changes/change.ts';
import { runIn } from '../git.ts';

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
  return runIn(gitDir, ['cat-file', batch], { input });
}

/**
 * What a file contained: its bytes, the id of bytes that are too many for memory, no file at all (a path left out of a sparse
 * checkout), or why that is unknown.
 */
export type KeptContent =
  | { status: 'bytes'; bytes: Buffer }
  | { status: 'large'; id: string }
  | { status: 'no_file' }
  | { status: 'lost'; why: string };

/** Maximum bytes that are read ahead and kept. */
const MAX_AHEAD = 64 * 1024 * 1024;

/** Contents with more bytes are not held in memory. */
export const MAX_HELD = 256 * 1024 * 1024;

/** Reads the contents of recorded states. */
export class KeptBlobs {
  readonly #shadowDir: string;
  #ahead: ReadonlyMap<string, Buffer | null> = new Map();

  constructor(shadowDir: string) {
    this.#shadowDir = shadowDir;
  }

  /** Reads the contents of many states at once, as many as should fit in memory, so that each query is cheap. */
  async readAhead(states: readonly FileState[]): Promise<void> {
    const sizes = new Map<string, number>();
    let bytes = 0;
    for (const { mode, blob, size, raw } of states) {
      bytes += size;
      const id = raw ?? blob;
      if (mode !== '160000' && bytes <= MAX_AHEAD)
        sizes.set(id, Math.max(heldBytes(size), sizes.get(id) ?? 0));
    }
    this.#ahead = await readBlobs(this.#shadowDir, sizes.keys(), (id) => sizes.get(id) ?? 0);
  }

  /** The bytes as they were in the work tree. For a link: its target. */
  async heldBy({ mode, blob, size, raw }: FileState): Promise<KeptContent> {
    if (mode === '160000') return lost('it is a submodule');
    const id = raw ?? blob;
    if (size > MAX_HELD) {
      const stored = (await sizesOf(this.#shadowDir, [id])).get(id);
      if (stored === size) return { status: 'large', id };
      return lost(
        stored === undefined ? GONE : 'git stores it in another form, and it is too large to convert',
      );
    }
    const kept = await this.#read(id, size);
    if (kept === null) return lost(`${GONE}, or larger than the run has recorded`);
    if (kept.length === size) return { status: 'bytes', bytes: kept };
    if (size === 0) return { status: 'no_file' };
    // Git drops at most one CR per LF: if as many are missing as there are LFs, every LF had its CR.
    const turned = withCrlf(kept);
    if (turned.length === size) return { status: 'bytes', bytes: turned };
    return lost(
      kept.toString('latin1', 0, 40).startsWith('version https://git-lfs')
        ? 'its content is stored by Git LFS; try git lfs checkout'
        : 'it had line endings of both kinds, and git keeps only one',
    );
  }

  /** Writes the bytes of a large content to an open file. */
  async writeTo(descriptor: number, id: string): Promise<void> {
    await runIn(this.#shadowDir, ['cat-file', 'blob', id], { output: descriptor });
  }

  async #read(id: string, size: number): Promise<Buffer | null> {
    const ahead = this.#ahead.get(id);
    if (ahead !== undefined) return ahead;
    return (await readBlobs(this.#shadowDir, [id], () => heldBytes(size))).get(id) ?? null;
  }
}

const GONE = 'its content is no longer in any repository';

/** What git stores for a file is no larger than the file, except for a Git LFS pointer. */
function heldBytes(size: number): number {
  return Math.max(size, MAX_LFS_POINTER_BYTES);
}

/** The limit used by git-lfs. */
const MAX_LFS_POINTER_BYTES = 1024;

function withCrlf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
}

function lost(why: string): KeptContent {
  return { status: 'lost', why };
}
