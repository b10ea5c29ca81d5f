/**
 * File names between bytes and strings. A name that is not UTF-8 keeps each invalid byte as a lone surrogate U+DC80 … U+DCFF
 * (the convention of `src/domain/changes/change.ts`), so that every name survives the round trip.
 */

/** The bytes of a name. Lone surrogates other than U+DC80 … U+DCFF do not come from file names and become U+FFFD. */
export function encodeName(name: string): Buffer {
  if (!FOREIGN.test(name)) return Buffer.from(name, 'utf8');
  const parts: Buffer[] = [];
  for (const piece of name.split(FOREIGN)) {
    const code = piece.length === 1 ? piece.charCodeAt(0) : 0;
    parts.push(code >= 0xdc80 && code <= 0xdcff ? Buffer.of(code - 0xdc00) : Buffer.from(piece, 'utf8'));
  }
  return Buffer.concat(parts);
}

/** The bytes of a path below a folder. */
export function encodePath(folder: string, path: string): Buffer {
  return encodeName(`${folder}/${path}`);
}

/** The string for a name; `encodeName` returns exactly these bytes. */
export function decodeName(bytes: Buffer): string {
  return decodeNameIn(bytes, 0, bytes.length);
}

/** The same for a part of the bytes, without a buffer for it. */
export function decodeNameIn(bytes: Buffer, from: number, end: number): string {
  const text = bytes.toString('utf8', from, end);
  return text.includes('\ufffd') ? decodeForeign(bytes.subarray(from, end)) : text;
}

function decodeForeign(bytes: Buffer): string {
  let name = '';
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    name +=
      length === 0 ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + length);
    at += length || 1;
  }
  return name;
}

/** A lone low surrogate that represents a byte; the `u` flag keeps real pairs together. */
const FOREIGN = /([\udc80-\udcff])/u;

/** Length of the well-formed UTF-8 sequence at `at`, or 0. */
function sequenceLength(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  const decoded = bytes.toString('utf8', at, at + length);
  return Buffer.from(decoded, 'utf8').equals(bytes.subarray(at, at + length)) ? length : 0;
}
