/** Reads a file that may be missing, huge or not a file at all. */

import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import process from 'node:process';
import { largerThan, type RegularFileRead, readRegularFile } from './regular-file.ts';

/** `why` is for people and follows the name of the file. */
export type BytesRead = RegularFileRead;

/**
 * All bytes of a regular file or, with `pipes`, of what a shell's `<(command)` provides; fails above `maxBytes`. With
 * `follow: false` a link is not followed.
 */
export async function readBytes(
  path: string,
  { maxBytes, pipes = false, follow = true }: { maxBytes: number; pipes?: boolean; follow?: boolean },
): Promise<BytesRead> {
  if (pipes && isPipe(path)) return collect(pipeOf(path), maxBytes);
  return readRegularFile(path, maxBytes, { follow });
}

/**
 * A pipe is read by a separate process: waiting for a writer would block a thread of this one, which then could not exit.
 * That process reaches a descriptor of this one (`<(command)`) by its number here.
 */
function pipeOf(path: string): AsyncIterable<Uint8Array> {
  const reachable = path.replace(/^\/(?:dev|proc\/self)\/fd\//, `/proc/${process.pid}/fd/`);
  // PATH may contain folders of the repository.
  const env = { PATH: '/usr/bin:/bin' };
  const cat = spawn('cat', ['--', reachable], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  cat.on('error', (error) => cat.stdout.destroy(error));
  // It may wait for a writer that never comes, and must not outlive us.
  const end = () => cat.kill();
  process.once('exit', end);
  cat.once('exit', () => process.off('exit', end));
  return cat.stdout;
}

/** All bytes of a stream; stops and fails above `maxBytes`. */
export async function collect(
  stream: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): Promise<BytesRead> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxBytes) return largerThan(maxBytes);
    chunks.push(bytes);
  }
  return { status: 'ok', bytes: Buffer.concat(chunks) };
}

/** The text of UTF-8 bytes without a byte order mark; null if they are not UTF-8 or contain a NUL. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** False if it cannot be examined: reading it then reports why. */
function isPipe(path: string): boolean {
  try {
    return statSync(path).isFIFO();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** The text of at most the first `maxBytes` of a stream, which is ended there. */
export async function startOfText(
  stream: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the transfer.
  for await (const chunk of stream ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
}
