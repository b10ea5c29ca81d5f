/**
 * The entries of an index where they lie in its bytes: found by path or by folder, without a string or an object for each of
 * them, so that the index of a large tree costs little time and memory.
 */

import { decodeName, decodeNameIn, encodeName } from '../../../../files/names.ts';
import {
  AT,
  compareBytes,
  FLAG,
  type IndexLayout,
  MORE_FLAG,
  readLayout,
  SUBMODULE,
} from './index-layout.ts';

/** What one entry says of its file. Times are whole seconds and nanoseconds. */
export interface IndexRecord {
  readonly ctimeS: number;
  readonly ctimeNs: number;
  readonly mtimeS: number;
  readonly mtimeNs: number;
  /** Bytes on disk and inode number, their low 32 bits. */
  readonly size: number;
  readonly ino: number;
  readonly mode: number;
  /** 0 unless the path is unmerged. */
  readonly stage: number;
  readonly assumeUnchanged: boolean;
  readonly skipWorktree: boolean;
  readonly intentToAdd: boolean;
}

/** Entries of index format 2 or 3, sorted by the bytes of their paths. Of a path with several entries only the last one is known. */
export class IndexRecords {
  readonly #bytes: Buffer;
  readonly #idBytes: number;
  /** Where each entry begins, where its path and the last name of that do, and where they end. */
  readonly #starts: Uint32Array;
  readonly #names: Uint32Array;
  readonly #lastNames: Uint32Array;
  readonly #ends: Uint32Array;
  readonly length: number;

  private constructor(bytes: Buffer, idBytes: number, layout: IndexLayout) {
    this.#bytes = bytes;
    this.#idBytes = idBytes;
    this.#starts = layout.starts;
    this.#names = layout.names;
    this.#lastNames = layout.lastNames;
    this.#ends = layout.ends;
    this.length = layout.length;
  }

  static none(): IndexRecords {
    const none = new Uint32Array(0);
    const layout = { starts: none, names: none, lastNames: none, ends: none, length: 0 };
    return new IndexRecords(Buffer.alloc(0), 0, layout);
  }

  /** Null for an index that only git should read. */
  static of(bytes: Buffer, idBytes: number): IndexRecords | null {
    const layout = readLayout(bytes, idBytes);
    return layout === null ? null : new IndexRecords(bytes, idBytes, layout);
  }

  at(ordinal: number): IndexRecord {
    const bytes = this.#bytes;
    const start = this.#starts[ordinal] ?? 0;
    const field = (offset: number) => bytes.readUInt32BE(start + offset);
    const blobEnd = start + AT.blob + this.#idBytes;
    const flags = bytes.readUInt16BE(blobEnd);
    const more = flags & FLAG.extended ? bytes.readUInt16BE(blobEnd + 2) : 0;
    return {
      ctimeS: field(AT.ctime),
      ctimeNs: field(AT.ctime + 4),
      mtimeS: field(AT.mtime),
      mtimeNs: field(AT.mtime + 4),
      ino: field(AT.ino),
      mode: field(AT.mode),
      size: field(AT.size),
      stage: (flags >> 12) & 3,
      assumeUnchanged: (flags & FLAG.assumeUnchanged) !== 0,
      skipWorktree: (more & MORE_FLAG.skipWorktree) !== 0,
      intentToAdd: (more & MORE_FLAG.intentToAdd) !== 0,
    };
  }

  /**
   * Whether the stat of its file alone will tell if the file is still as the entry has it; `written` is when the index was. Makes no
   * record, as it is asked of every entry.
   */
  proves(ordinal: number, written: { readonly s: number; readonly ns: number }): boolean {
    const bytes = this.#bytes;
    const start = this.#starts[ordinal] ?? 0;
    // The user told git not to check the file, or there is none.
    if ((bytes.readUInt16BE(start + AT.blob + this.#idBytes) & (FLAG.assumeUnchanged | FLAG.stage)) !== 0)
      return false;
    if ((this.#moreFlags(ordinal) & (MORE_FLAG.skipWorktree | MORE_FLAG.intentToAdd)) !== 0) return false;
    const mtimeS = bytes.readUInt32BE(start + AT.mtime);
    if (
      mtimeS > written.s ||
      (mtimeS === written.s && bytes.readUInt32BE(start + AT.mtime + 4) >= written.ns)
    )
      return false;
    if (this.#isSubmodule(ordinal)) return false;
    // Git marks an entry that it does not trust by size 0.
    return bytes.readUInt32BE(start + AT.size) > 0 || isEmptyBlob(this.blobOf(ordinal));
  }

  /** A submodule, or a file that a sparse checkout leaves out. */
  isWithoutFile(ordinal: number): boolean {
    return (this.#moreFlags(ordinal) & MORE_FLAG.skipWorktree) !== 0 || this.#isSubmodule(ordinal);
  }

  /** Whole seconds. */
  ctimeOf(ordinal: number): number {
    return this.#bytes.readUInt32BE((this.#starts[ordinal] ?? 0) + AT.ctime);
  }

  /** Hexadecimal. */
  blobOf(ordinal: number): string {
    const from = (this.#starts[ordinal] ?? 0) + AT.blob;
    return this.#bytes.toString('hex', from, from + this.#idBytes);
  }

  pathOf(ordinal: number): string {
    return decodeName(this.#pathBytes(ordinal));
  }

  /** The last name of the path. */
  nameOf(ordinal: number): string {
    return decodeNameIn(this.#bytes, this.#lastNames[ordinal] ?? 0, this.#ends[ordinal] ?? 0);
  }

  /** Whether the last name of the path is this one; cheaper than to ask for the path. */
  isNamed(ordinal: number, name: Buffer): boolean {
    const [from = 0, end = 0] = [this.#lastNames[ordinal], this.#ends[ordinal]];
    return end - from === name.length && this.#bytes.compare(name, 0, name.length, from, end) === 0;
  }

  /** Whether both lie in the same folder. */
  areNeighbours(one: number, other: number): boolean {
    const [a = 0, b = 0] = [this.#names[one], this.#names[other]];
    const [aEnd = 0, bEnd = 0] = [this.#lastNames[one], this.#lastNames[other]];
    const bytes = this.#bytes;
    return aEnd - a === bEnd - b && compareBytes([bytes, a, aEnd], [bytes, b, bEnd]) === 0;
  }

  /** The entry of a path, or null. */
  find(path: string): number | null {
    const wanted = encodeName(path);
    const ordinal = this.#lowerBound(wanted);
    return ordinal < this.length && this.#pathBytes(ordinal).equals(wanted) ? ordinal : null;
  }

  #moreFlags(ordinal: number): number {
    const at = (this.#starts[ordinal] ?? 0) + AT.blob + this.#idBytes;
    return (this.#bytes.readUInt16BE(at) & FLAG.extended) !== 0 ? this.#bytes.readUInt16BE(at + 2) : 0;
  }

  #isSubmodule(ordinal: number): boolean {
    return this.#bytes.readUInt32BE((this.#starts[ordinal] ?? 0) + AT.mode) === SUBMODULE;
  }

  /** The first entry whose path is not before this one. */
  #lowerBound(wanted: Buffer): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const [from = 0, end = 0] = [this.#names[middle], this.#ends[middle]];
      if (compareBytes([this.#bytes, from, end], [wanted, 0, wanted.length]) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #pathBytes(ordinal: number): Buffer {
    return this.#bytes.subarray(this.#names[ordinal], this.#ends[ordinal]);
  }
}

function isEmptyBlob(blob: string): boolean {
  return blob.startsWith('e69de29bb2d1') || blob.startsWith('473a0f4c3be8');
}
