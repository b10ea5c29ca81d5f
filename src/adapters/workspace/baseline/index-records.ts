/**
 * The entries of an index where they lie in its bytes: found by path or by folder, without a string or an object for each of
 * them, so that the index of a large tree costs little time and memory.
 */

import { decodeName, decodeNameIn, encodeName } from '../../../files/names.ts';

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
  /** 0 unless the path is to be merged. */
  readonly stage: number;
  readonly assumeUnchanged: boolean;
  readonly skipWorktree: boolean;
  readonly intentToAdd: boolean;
}

/** Where the fields are in an entry, as gitformat-index has it. */
const AT = { ctime: 0, mtime: 8, ino: 20, mode: 24, size: 36, blob: 40 } as const;
const ASSUME_UNCHANGED = 0x8000;
const STAGE = 0x3000;
const EXTENDED = 0x4000;
const NAME_LENGTH = 0x0fff;
const SKIP_WORKTREE = 0x4000;
const INTENT_TO_ADD = 0x2000;
/** All that git writes: files, executable or not, links and submodules. */
const MODES: readonly number[] = [0o100644, 0o100755, 0o120000, 0o160000];
const SUBMODULE = 0o160000;

const HEADER_BYTES = 12;
const SLASH = 0x2f;
const DOT = 0x2e;

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

  private constructor(bytes: Buffer, idBytes: number, places: Places) {
    this.#bytes = bytes;
    this.#idBytes = idBytes;
    this.#starts = places.starts;
    this.#names = places.names;
    this.#lastNames = places.lastNames;
    this.#ends = places.ends;
    this.length = places.length;
  }

  static none(): IndexRecords {
    const none = new Uint32Array(0);
    return new IndexRecords(Buffer.alloc(0), 0, {
      ...{ starts: none, names: none, lastNames: none, ends: none },
      ...{ length: 0, after: 0 },
    });
  }

  /** Null for an index that only git should read: of another format, split, sparse, or not as it should be. */
  static of(bytes: Buffer, idBytes: number): IndexRecords | null {
    if (bytes.length < HEADER_BYTES + idBytes || bytes.toString('latin1', 0, 4) !== 'DIRC') return null;
    const version = bytes.readUInt32BE(4);
    if (version !== 2 && version !== 3) return null;
    const places = findEntries(bytes, idBytes);
    if (places === null || needsGit(bytes, places.after, idBytes)) return null;
    return new IndexRecords(bytes, idBytes, places);
  }

  at(ordinal: number): IndexRecord {
    const bytes = this.#bytes;
    const start = this.#starts[ordinal] ?? 0;
    const field = (offset: number) => bytes.readUInt32BE(start + offset);
    const blobEnd = start + AT.blob + this.#idBytes;
    const flags = bytes.readUInt16BE(blobEnd);
    const more = flags & EXTENDED ? bytes.readUInt16BE(blobEnd + 2) : 0;
    return {
      ctimeS: field(AT.ctime),
      ctimeNs: field(AT.ctime + 4),
      mtimeS: field(AT.mtime),
      mtimeNs: field(AT.mtime + 4),
      ino: field(AT.ino),
      mode: field(AT.mode),
      size: field(AT.size),
      stage: (flags >> 12) & 3,
      assumeUnchanged: (flags & ASSUME_UNCHANGED) !== 0,
      skipWorktree: (more & SKIP_WORKTREE) !== 0,
      intentToAdd: (more & INTENT_TO_ADD) !== 0,
    };
  }

  /**
   * Whether the stat of its file alone will tell if the file is still as the entry has it; `written` is when the index was. Makes no
   * record, as it is asked of every entry.
   */
  proves(ordinal: number, written: { readonly s: number; readonly ns: number }): boolean {
    const bytes = this.#bytes;
    const start = this.#starts[ordinal] ?? 0;
    // The user has told git not to look, or there is nothing to be looked at.
    if ((bytes.readUInt16BE(start + AT.blob + this.#idBytes) & (ASSUME_UNCHANGED | STAGE)) !== 0)
      return false;
    if ((this.#moreFlags(ordinal) & (SKIP_WORKTREE | INTENT_TO_ADD)) !== 0) return false;
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
    return (this.#moreFlags(ordinal) & SKIP_WORKTREE) !== 0 || this.#isSubmodule(ordinal);
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
    return aEnd - a === bEnd - b && compared([bytes, a, aEnd], [bytes, b, bEnd]) === 0;
  }

  /** The entry of a path; null when there is none. */
  find(path: string): number | null {
    const wanted = encodeName(path);
    const ordinal = this.#lowerBound(wanted);
    return ordinal < this.length && this.#pathBytes(ordinal).equals(wanted) ? ordinal : null;
  }

  #moreFlags(ordinal: number): number {
    const at = (this.#starts[ordinal] ?? 0) + AT.blob + this.#idBytes;
    return (this.#bytes.readUInt16BE(at) & EXTENDED) !== 0 ? this.#bytes.readUInt16BE(at + 2) : 0;
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
      if (compared([this.#bytes, from, end], [wanted, 0, wanted.length]) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #pathBytes(ordinal: number): Buffer {
    return this.#bytes.subarray(this.#names[ordinal], this.#ends[ordinal]);
  }
}

interface Places {
  readonly starts: Uint32Array;
  readonly names: Uint32Array;
  readonly lastNames: Uint32Array;
  readonly ends: Uint32Array;
  readonly length: number;
  /** Where the extensions begin. */
  readonly after: number;
}

/** Null when the entries are not in order or go beyond the end. */
function findEntries(bytes: Buffer, idBytes: number): Places | null {
  const count = bytes.readUInt32BE(8);
  const limit = bytes.length - idBytes;
  const least = AT.blob + idBytes + 2;
  if (count > limit / least) return null;
  const starts = new Uint32Array(count);
  const names = new Uint32Array(count);
  const lastNames = new Uint32Array(count);
  const ends = new Uint32Array(count);
  let length = 0;
  let at = HEADER_BYTES;
  for (let seen = 0; seen < count; seen += 1) {
    if (at + least >= limit) return null;
    const flags = bytes.readUInt16BE(at + AT.blob + idBytes);
    const name = at + least + (flags & EXTENDED ? 2 : 0);
    const short = flags & NAME_LENGTH;
    const end = short < NAME_LENGTH ? name + short : bytes.indexOf(0, name);
    if (end <= name || end >= limit || bytes[end] !== 0) return null;
    if (!MODES.includes(bytes.readUInt32BE(at + AT.mode))) return null;
    // Git refuses to read an entry with flags that it does not know.
    if (flags & EXTENDED && (bytes.readUInt16BE(name - 2) & ~(SKIP_WORKTREE | INTENT_TO_ADD)) !== 0)
      return null;
    if (!isBelowRoot(bytes, name, end)) return null;
    const last = length - 1;
    const order = last < 0 ? 1 : compared([bytes, name, end], [bytes, names[last] ?? 0, ends[last] ?? 0]);
    // Several entries of one path are told apart by their stages, and none of them is merged.
    if (order < 0 || (order === 0 && !isNextStage(bytes, (starts[last] ?? 0) + AT.blob + idBytes, flags)))
      return null;
    if (order > 0) length += 1;
    starts[length - 1] = at;
    names[length - 1] = name;
    lastNames[length - 1] = Math.max(name, bytes.lastIndexOf(SLASH, end - 1) + 1);
    ends[length - 1] = end;
    // Padded with NULs, one at least, to a multiple of eight.
    at += ((end - at) & ~7) + 8;
  }
  return at > limit ? null : { starts, names, lastNames, ends, length, after: at };
}

/** Below, at or above 0 as some bytes come before, with or after others. Node's own function looks at its arguments for longer. */
function compared([one, from, end]: Span, [other, otherFrom, otherEnd]: Span): number {
  const common = Math.min(end - from, otherEnd - otherFrom);
  for (let at = 0; at < common; at += 1) {
    const difference = (one[from + at] ?? 0) - (other[otherFrom + at] ?? 0);
    if (difference !== 0) return difference;
  }
  return end - from - (otherEnd - otherFrom);
}

type Span = readonly [bytes: Buffer, from: number, end: number];

/** No name of the path is empty, `.` or `..`, and none has a NUL: git refuses to write such an index, and reads it all the same. */
function isBelowRoot(bytes: Buffer, from: number, end: number): boolean {
  let start = from;
  for (let at = from; at <= end; at += 1) {
    if (at < end && bytes[at] === 0) return false;
    if (at < end && bytes[at] !== SLASH) continue;
    const length = at - start;
    const isDots =
      length <= 2 && (length < 1 || bytes[start] === DOT) && (length < 2 || bytes[start + 1] === DOT);
    if (isDots) return false;
    start = at + 1;
  }
  return true;
}

function isNextStage(bytes: Buffer, flagsBefore: number, flags: number): boolean {
  const before = (bytes.readUInt16BE(flagsBefore) >> 12) & 3;
  return before > 0 && ((flags >> 12) & 3) > before;
}

/** An extension without which the entries mean something else has a name that begins with a small letter. */
function needsGit(bytes: Buffer, from: number, idBytes: number): boolean {
  const limit = bytes.length - idBytes;
  let at = from;
  while (at < limit) {
    const first = bytes[at] ?? 0;
    if (at + 8 > limit || first < 0x41 || first > 0x5a) return true;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return at !== limit;
}

function isEmptyBlob(blob: string): boolean {
  return blob.startsWith('e69de29bb2d1') || blob.startsWith('473a0f4c3be8');
}
