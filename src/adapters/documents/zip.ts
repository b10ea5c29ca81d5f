/**
 * Reads one file of a ZIP archive. The archive is hostile: every number in it is checked, and the unpacked size is
 * bounded.
 */

import { inflateRawSync } from 'node:zlib';

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT = 65_535;
const MAX_ENTRIES = 10_000;
const STORED = 0;
const DEFLATED = 8;

/**
 * Null if the archive has no such file. Throws RangeError if it is not an archive, or if the file unpacks to more
 * than `maxBytes`.
 */
export function unzip(archive: Buffer, name: string, maxBytes: number): Buffer | null {
  const end = endOf(archive);
  let at = archive.readUInt32LE(end + 16);
  const count = Math.min(archive.readUInt16LE(end + 10), MAX_ENTRIES);
  for (let nth = 0; nth < count && archive.readUInt32LE(at) === ENTRY; nth += 1) {
    const nameBytes = archive.readUInt16LE(at + 28);
    const found = archive.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    if (found === name) return contentAt(archive, at, maxBytes);
    at += ENTRY_BYTES + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return null;
}

/** The record that locates the list of files: at the very end, before a comment. */
function endOf(archive: Buffer): number {
  const first = Math.max(0, archive.length - END_BYTES - MAX_COMMENT);
  for (let at = archive.length - END_BYTES; at >= first; at -= 1)
    if (archive.readUInt32LE(at) === END) return at;
  throw new RangeError('It is no ZIP archive.');
}

function contentAt(archive: Buffer, entry: number, maxBytes: number): Buffer {
  const isEncrypted = (archive.readUInt16LE(entry + 8) & 1) === 1;
  const method = archive.readUInt16LE(entry + 10);
  const packedBytes = archive.readUInt32LE(entry + 20);
  const local = archive.readUInt32LE(entry + 42);
  if (isEncrypted || archive.readUInt32LE(local) !== LOCAL)
    throw new RangeError('Its files are encrypted, or not where they should be.');
  const from = local + LOCAL_BYTES + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const packed = archive.subarray(from, from + packedBytes);
  if (method === STORED && packed.length <= maxBytes) return packed;
  if (method === DEFLATED) return inflateRawSync(packed, { maxOutputLength: maxBytes });
  throw new RangeError('It is packed in a way that is not known, or too large.');
}
