/** The pointer that git-lfs stores instead of a large file. Format: github.com/git-lfs/git-lfs, docs/spec.md. */

import { createHash } from 'node:crypto';

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
