/**
 * Where the entries of an index lie in its bytes, and whether they can be read without git: as gitformat-index describes
 * formats 2 and 3.
 */

/** Where the fields are in an entry. */
export const AT = { ctime: 0, mtime: 8, ino: 20, mode: 24, size: 36, blob: 40 } as const;
/** Bits of the flags of an entry. */
export const FLAG = { assumeUnchanged: 0x8000, extended: 0x4000, stage: 0x3000 } as const;
/** Bits of the second flags, which an entry has that is `extended`. */
export const MORE_FLAG = { skipWorktree: 0x4000, intentToAdd: 0x2000 } as const;
const NAME_LENGTH = 0x0fff;
/** The mode of an entry that is a submodule. */
export const SUBMODULE = 0o160000;
/** All that git writes: files, executable or not, links and submodules. */
const MODES: readonly number[] = [0o100644, 0o100755, 0o120000, SUBMODULE];

const HEADER_BYTES = 12;
const SLASH = 0x2f;
const DOT = 0x2e;

/** The entries of an index by their ordinals, as offsets into its bytes. Of a path with several entries only the last one counts. */
export interface IndexLayout {
  /** Where each entry begins, where its path and the last name of that do, and where they end. */
  readonly starts: Uint32Array;
  readonly names: Uint32Array;
  readonly lastNames: Uint32Array;
  readonly ends: Uint32Array;
  readonly length: number;
}

/** Null for an index that only git should read: of another format, split, sparse, or not as it should be. */
export function readLayout(bytes: Buffer, idBytes: number): IndexLayout | null {
  if (bytes.length < HEADER_BYTES + idBytes || bytes.toString('latin1', 0, 4) !== 'DIRC') return null;
  const version = bytes.readUInt32BE(4);
  if (version !== 2 && version !== 3) return null;
  const found = findEntries(bytes, idBytes);
  return found === null || needsGit(bytes, found.after, idBytes) ? null : found.layout;
}

/** Null when the entries are not in order or go beyond the end; `after` is where the extensions begin. */
function findEntries(bytes: Buffer, idBytes: number): { layout: IndexLayout; after: number } | null {
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
    const name = at + least + (flags & FLAG.extended ? 2 : 0);
    const short = flags & NAME_LENGTH;
    const end = short < NAME_LENGTH ? name + short : bytes.indexOf(0, name);
    if (end <= name || end >= limit || bytes[end] !== 0) return null;
    if (!MODES.includes(bytes.readUInt32BE(at + AT.mode))) return null;
    // Git refuses to read an entry with flags that it does not know.
    if (
      flags & FLAG.extended &&
      (bytes.readUInt16BE(name - 2) & ~(MORE_FLAG.skipWorktree | MORE_FLAG.intentToAdd)) !== 0
    )
      return null;
    if (!isBelowRoot(bytes, name, end)) return null;
    const last = length - 1;
    const order = last < 0 ? 1 : compareBytes([bytes, name, end], [bytes, names[last] ?? 0, ends[last] ?? 0]);
    // If a path has several entries, they differ in their stage, and none of them is stage 0.
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
  return at > limit ? null : { layout: { starts, names, lastNames, ends, length }, after: at };
}

/** Compares bytes: negative, 0 or positive, as for sorting. Node's own function spends more time checking its arguments. */
export function compareBytes([one, from, end]: ByteRange, [other, otherFrom, otherEnd]: ByteRange): number {
  const common = Math.min(end - from, otherEnd - otherFrom);
  for (let at = 0; at < common; at += 1) {
    const difference = (one[from + at] ?? 0) - (other[otherFrom + at] ?? 0);
    if (difference !== 0) return difference;
  }
  return end - from - (otherEnd - otherFrom);
}

/** Some of these bytes. */
type ByteRange = readonly [bytes: Buffer, from: number, end: number];

/** No component of the path is empty, `.` or `..`, and none contains a NUL. Git refuses to write such an index, but reads it. */
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
