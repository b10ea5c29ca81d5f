/** Creates git objects without git: ids of contents, pointers as Git LFS has them, and loose blobs written to the shadow repository. */

import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createDeflate, deflateSync } from 'node:zlib';
import type { FileState } from '../../domain/changes/change.ts';
import { chunksOf, openRegularIn } from '../../files/opened-file.ts';
import { viewing } from '../../files/tree-view.ts';

/** The hash used for a repository's object ids. */
export type ObjectFormat = 'sha1' | 'sha256';

/** The format of an id. */
export function formatOf(id: string): ObjectFormat {
  return id.length === 64 ? 'sha256' : 'sha1';
}

/** Git's id of a blob with these bytes. */
export function blobId(bytes: Uint8Array, format: ObjectFormat): string {
  return createHash(format).update(header(bytes.length)).update(bytes).digest('hex');
}

/**
 * What is at a path of the work tree now. Hashes a file of at most `maxBytes`, and stores nothing: the blob is that of the bytes on disk. Null if there is no file and no
 * link, undefined for one that cannot be read or is too large.
 */
export async function stateOnDisk(
  root: string,
  path: string,
  format: ObjectFormat,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<FileState | null | undefined> {
  const { link, opening } = viewing(root, (view) => {
    const read = view.readLink(path);
    return { link: read, opening: read.status === 'seen' ? null : openRegularIn(view, path) };
  });
  if (link.status === 'seen') {
    return { mode: '120000', blob: blobId(link.target, format), size: link.target.length };
  }
  if (opening?.status !== 'open') return opening?.status === 'absent' ? null : undefined;
  const { descriptor, stat } = opening.file;
  try {
    if (stat.size > maxBytes) return undefined;
    const hash = createHash(format).update(header(stat.size));
    for await (const chunk of chunksOf(opening.file)) hash.update(chunk);
    return {
      mode: stat.executable ? '100755' : '100644',
      blob: hash.digest('hex'),
      size: stat.size,
    };
  } finally {
    closeSync(descriptor);
  }
}

/** Stores blobs. Writing a blob that already exists costs one lookup. */
export class ObjectStore {
  readonly #objects: string;
  readonly #format: ObjectFormat;

  /** `gitDir` is an existing repository; blobs are written to its own object folder. */
  constructor(gitDir: string, format: ObjectFormat) {
    this.#objects = join(gitDir, 'objects');
    this.#format = format;
  }

  /** Stores a blob and returns its id. `elsewhere` is the id of a blob in another store, which is not stored twice. */
  write(bytes: Uint8Array, elsewhere: string | null): string {
    const id = blobId(bytes, this.#format);
    if (id === elsewhere || existsSync(this.#pathOf(id))) return id;
    const temporary = this.#temporary();
    const file = openSync(temporary, 'wx', 0o444);
    try {
      const packed = deflateSync(Buffer.concat([header(bytes.length), bytes]), { level: 1 });
      for (let at = 0; at < packed.length; ) at += writeSync(file, packed, at);
    } finally {
      closeSync(file);
    }
    this.#keep(temporary, id);
    return id;
  }

  /** The same for contents too large for memory. If `chunks` are not `size` bytes in total, stores nothing and returns null. */
  async writeStream(
    chunks: AsyncIterable<Buffer>,
    size: number,
    elsewhere: string | null = null,
  ): Promise<string | null> {
    const hash = createHash(this.#format).update(header(size));
    const temporary = this.#temporary();
    let seen = 0;
    async function* object(): AsyncGenerator<Buffer> {
      yield header(size);
      for await (const chunk of chunks) {
        seen += chunk.length;
        hash.update(chunk);
        yield chunk;
      }
    }
    await pipeline(
      object,
      // Most large files are compressed already, and compressing takes twenty times as long as writing.
      createDeflate({ level: 0 }),
      createWriteStream(temporary, { mode: 0o444, flags: 'wx' }),
    ).catch((error: unknown) => {
      rmSync(temporary, { force: true });
      throw error;
    });
    if (seen !== size) {
      rmSync(temporary);
      return null;
    }
    const id = hash.digest('hex');
    if (id === elsewhere) rmSync(temporary);
    else this.#keep(temporary, id);
    return id;
  }

  #pathOf(id: string): string {
    return join(this.#objects, id.slice(0, 2), id.slice(2));
  }

  #temporary(): string {
    return join(this.#objects, `incoming-${randomBytes(8).toString('hex')}`);
  }

  #keep(temporary: string, id: string): void {
    const path = this.#pathOf(id);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    renameSync(temporary, path);
  }
}

function header(size: number): Buffer {
  return Buffer.from(`blob ${size}\0`);
}

/** The pointer to the content with this SHA-256 (hex). */
export function lfsPointer(sha256: string, size: number): Buffer {
  return Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${size}\n`);
}

/** Content that is stored as it is: a pointer (the real content was never fetched) or nothing at all. */
export function isLfsPointer(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return true;
  if (bytes.length > 1024) return false;
  return Buffer.from(bytes)
    .toString('latin1')
    .startsWith('version https://git-lfs.github.com/spec/v1\noid sha256:');
}

/** SHA-256 (hex) of content in chunks. */
export async function sha256OfChunks(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}
