/** Reads contents back from the shadow repository. */

import type { ReadBlobs } from '../../ports/workspace.ts';
import { askGit } from '../git.ts';

/**
 * Each wanted id with its bytes; null if it is missing, as in a partial clone or after the repository was moved, or has more than
 * `maxBytes` bytes: callers know the size of the content they ask for, and a few bytes in a store can expand to a gigabyte.
 */
export async function readBlobs(
  shadowDir: string,
  ids: Iterable<string>,
  maxBytes: (id: string) => number,
): Promise<Map<string, Buffer | null>> {
  const blobs = new Map<string, Buffer | null>();
  // Ids come from a journal, and each must be exactly one line.
  const named = [...new Set(ids)].filter((id) => /^[0-9a-f]+$/.test(id));
  if (named.length === 0) return blobs;
  for (const id of named) blobs.set(id, null);
  const batch = new BatchOutput(named, blobs, maxBytes);
  // After content that is too large, the rest is requested again.
  do await askUntilTooLarge(shadowDir, batch);
  while (batch.isTooLarge);
  return blobs;
}

/**
 * Reads contents ahead, together in one git call; those of more than `maxBytes` bytes, and others, are read on request. A failure
 * is reported to the caller that requests the content.
 */
export function readAhead(shadowDir: string, ids: Iterable<string>, maxBytes: number): ReadBlobs {
  const ahead = readBlobs(shadowDir, ids, () => maxBytes);
  ahead.catch(() => undefined);
  return async (wanted, maxBytesOf) => {
    const read = await ahead;
    const blobs = new Map<string, Buffer | null>();
    for (const id of wanted) {
      const bytes = read.get(id) ?? null;
      blobs.set(id, bytes !== null && bytes.length <= maxBytesOf(id) ? bytes : null);
    }
    const left = [...blobs].flatMap(([id, bytes]) => (bytes === null ? [id] : []));
    for (const [id, bytes] of await readBlobs(shadowDir, left, maxBytesOf)) blobs.set(id, bytes);
    return blobs;
  };
}

/** Has git print one content after the other, and kills it at the first one that is too large. */
async function askUntilTooLarge(shadowDir: string, batch: BatchOutput): Promise<void> {
  const enough = new AbortController();
  const asked = askGit({
    cwd: shadowDir,
    args: [`--git-dir=${shadowDir}`, 'cat-file', '--batch'],
    input: Buffer.from(
      batch
        .begin()
        .map((id) => `${id}\n`)
        .join(''),
    ),
    onOutput(piece) {
      if (!batch.isTooLarge) batch.add(piece);
      if (batch.isTooLarge) enough.abort();
    },
    signal: enough.signal,
  });
  const answer = await asked.catch((error: unknown) => {
    if (!batch.isTooLarge) throw error;
    return null;
  });
  if (answer !== null && answer.exitCode !== 0 && !batch.isTooLarge)
    throw new Error(`git cat-file failed (${answer.exitCode}): ${answer.stderr}`);
}

/** Parses the output of `cat-file --batch`: `id type size LF content LF`, or `id missing LF`. */
class BatchOutput {
  /** Those that git has not answered yet. Answers come in their order. */
  readonly #ids: string[];
  readonly #blobs: Map<string, Buffer | null>;
  readonly #maxBytes: (id: string) => number;
  /** Pieces of an incomplete entry. */
  #pieces: Buffer[] = [];
  #length = 0;
  /** The content being read; null if a header comes next. */
  #content: { id: string; type: string; size: number } | null = null;
  /** The last answer has more bytes than are wanted, and its content was not taken in. */
  isTooLarge = false;

  constructor(ids: readonly string[], blobs: Map<string, Buffer | null>, maxBytes: (id: string) => number) {
    this.#ids = [...ids];
    this.#blobs = blobs;
    this.#maxBytes = maxBytes;
  }

  /** Makes ready for another output, and returns the ids to ask for. */
  begin(): readonly string[] {
    this.#pieces = [];
    this.#length = 0;
    this.#content = null;
    this.isTooLarge = false;
    return [...this.#ids];
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    while (!this.isTooLarge && (this.#content === null ? this.#takeHeader() : this.#takeContent()));
  }

  /** False when more has to come first. */
  #takeHeader(): boolean {
    const bytes = this.#all();
    const end = bytes.indexOf('\n');
    if (end < 0) return false;
    const [, type = '', size] = bytes.toString('latin1', 0, end).split(' ');
    this.#drop(bytes, end + 1);
    const id = this.#ids.shift() ?? '';
    if (size === undefined) return true;
    this.isTooLarge = Number(size) > this.#maxBytes(id);
    this.#content = { id, type, size: Number(size) };
    return true;
  }

  #takeContent(): boolean {
    if (this.#content === null || this.#length <= this.#content.size) return false;
    const { id, type, size } = this.#content;
    const bytes = this.#all();
    if (type === 'blob') this.#blobs.set(id, Buffer.from(bytes.subarray(0, size)));
    this.#drop(bytes, size + 1);
    this.#content = null;
    return true;
  }

  #all(): Buffer {
    const [first = Buffer.alloc(0), ...more] = this.#pieces;
    const bytes = more.length === 0 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [bytes];
    return bytes;
  }

  #drop(bytes: Buffer, count: number): void {
    this.#pieces = [bytes.subarray(count)];
    this.#length = bytes.length - count;
  }
}

/**
 * The lines of a text with their line endings, bytes as latin1 characters. Null when there is no content, or when git would
 * call it binary.
 */
export function textLines(content: Buffer | null): string[] | null {
  if (content === null || content.subarray(0, BINARY_PROBE).includes(0)) return null;
  return content.length === 0 ? [] : content.toString('latin1').split(/(?<=\n)/);
}

/** Number of bytes that git searches for a NUL. */
const BINARY_PROBE = 8_000;
