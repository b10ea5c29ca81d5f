/**
 * Makes pip's cache usable without an index. pip keeps the wheels that it downloaded under a hash of their address, and asks an
 * index for that address first. A wheel contains its name, so files with these names are enough for `--find-links`.
 */

import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { inflateRawSync } from 'node:zlib';
import { orMissing, statOf } from '../host-files.ts';
import type { LayerSource } from './layer.ts';
import { WHEELS } from './presets.ts';

/** Adds the folder of wheels to a layer. Other files and broken wheels are skipped. */
export async function nameWheels({
  source,
  shownAt,
  layer,
}: Pick<LayerSource, 'source' | 'shownAt' | 'layer'>): Promise<void> {
  const folder = join(layer, WHEELS);
  if (statOf(folder) !== null) return;
  mkdirSync(folder, { mode: 0o700 });
  const names = orMissing(() => readdirSync(source, { recursive: true, encoding: 'utf8' })) ?? [];
  for (const path of names) {
    if (!statOf(join(source, path))?.isFile()) continue;
    // Those that pip built itself have their names.
    const built = path.endsWith('.whl') ? basename(path) : null;
    const wheel = built === null ? wheelIn(join(source, path)) : { name: built, bytes: null };
    if (wheel === null || statOf(join(folder, wheel.name)) !== null) continue;
    const to = join(folder, wheel.name);
    if (wheel.bytes === null) symlinkSync(join(shownAt, path), to);
    else writeFileSync(to, wheel.bytes, { mode: 0o600 });
    await setImmediate();
  }
}

/** `bytes` is null if the file itself is the wheel; before pip 23.3 it contains headers too. */
interface FoundWheel {
  readonly name: string;
  readonly bytes: Buffer | null;
}

/** Longer ones are not read. */
const MAX_READ_BYTES = 512 * 1024 ** 2;
const MAX_METADATA_BYTES = 1024 * 1024;
/** The end of a zip without a comment, and headers of a response. */
const TAIL_BYTES = 64 * 1024;
const END_BYTES = 22;

function wheelIn(path: string): FoundWheel | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = orMissing(() => openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (file === null) return null;
  try {
    return readWheel(file, statOf(path)?.size ?? 0);
  } catch (error) {
    // What is not in the file, or is not compressed in this way.
    if (error instanceof RangeError || (error as NodeJS.ErrnoException).code?.startsWith('Z_')) return null;
    throw error;
  } finally {
    closeSync(file);
  }
}

function readWheel(file: number, size: number): FoundWheel | null {
  const tailAt = Math.max(0, size - TAIL_BYTES);
  const tail = bytesAt(file, tailAt, size - tailAt);
  const end = tail.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (end < 0) return null;
  const [length, offset] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  // Where the zip begins: its own offsets count from there.
  const start = tailAt + end - length - offset;
  const name = nameIn(file, start, bytesAt(file, start + offset, length));
  if (name === null) return null;
  const zipBytes = tailAt + end + END_BYTES + tail.readUInt16LE(end + 20) - start;
  return { name, bytes: zipBytes === size ? null : bytesAt(file, start, zipBytes) };
}

/** The file name that a wheel was published under (PEP 427), from its metadata; null for anything else. */
function nameIn(file: number, start: number, directory: Buffer): string | null {
  for (let at = 0; at + 46 <= directory.length; ) {
    const length = directory.readUInt16LE(at + 28);
    const path = directory.toString('utf8', at + 46, at + 46 + length);
    const [, project] = /^([A-Za-z0-9._]+-[A-Za-z0-9._!+]+)\.dist-info\/WHEEL$/.exec(path) ?? [];
    if (project !== undefined) return nameOf(project, contentOf(file, start, directory.subarray(at)));
    at += 46 + length + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return null;
}

/** `entry` is the file's in the central directory. */
function contentOf(file: number, start: number, entry: Buffer): string {
  const header = start + entry.readUInt32LE(42);
  const local = bytesAt(file, header, 30);
  const dataAt = header + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  const data = bytesAt(file, dataAt, entry.readUInt32LE(20));
  const isStored = entry.readUInt16LE(10) === 0;
  return (isStored ? data : inflateRawSync(data, { maxOutputLength: MAX_METADATA_BYTES })).toString('utf8');
}

/** Name and version, the build if there is one, and the tags, each field with all that occurs in it. */
function nameOf(project: string, metadata: string): string | null {
  const values = (field: string) =>
    [...metadata.matchAll(new RegExp(`^${field}:[ \\t]*([\\w.-]+)[ \\t]*\\r?$`, 'gm'))].flatMap(
      ([, value]) => value ?? [],
    );
  const tags = values('Tag').map((tag) => tag.split('-'));
  if (tags.length === 0 || tags.some((tag) => tag.length !== 3)) return null;
  const each = [0, 1, 2].map((field) => [...new Set(tags.map((tag) => tag[field]))].join('.'));
  return `${[project, ...values('Build').slice(0, 1), ...each].join('-')}.whl`;
}

/** Throws a RangeError beyond the end of the file. */
function bytesAt(file: number, position: number, length: number): Buffer {
  if (position < 0 || length > MAX_READ_BYTES) throw new RangeError('no place in the file');
  const bytes = Buffer.alloc(length);
  if (readSync(file, bytes, 0, length, position) < length) throw new RangeError('the file ends before it');
  return bytes;
}
