/**
 * File names between bytes and strings. A name that is not UTF-8 keeps each invalid byte as a lone surrogate U+DC80 … U+DCFF
 * (the convention of `src/domain/changes/change.ts`), so that every name survives the round trip.
 */

/** The bytes of a name. Lone surrogates other than U+DC80 … U+DCFF do not come from file names and become U+FFFD. */
export function encodeName(name: string): Buffer {
  if (!FOREIGN.test(name)) return Buffer.from(name, 'utf8');
  const parts = name.split(FOREIGN);
  // Every other part is a foreign byte.
  return Buffer.concat(
    parts.map((part, at) =>
      at % 2 === 0 ? Buffer.from(part, 'utf8') : Buffer.of(part.charCodeAt(0) - 0xdc00),
    ),
  );
}

/** The bytes of a path below a folder. */
export function encodePath(folder: string, path: string): Buffer {
  return encodeName(`${folder}/${path}`);
}

/** Names as git reads them with `-z`: each followed by NUL. */
export function encodeNames(names: readonly string[]): Buffer {
  return Buffer.concat(names.map((name) => encodeName(`${name}\0`)));
}

/** The names in such a list. */
export function decodeNames(list: Buffer): string[] {
  return decodeName(list).split('\0').slice(0, -1);
}

/** The string for a name; `encodeName` returns exactly these bytes. */
export function decodeName(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (!text.includes('\ufffd')) return text;
  return bytes
    .toString('latin1')
    .replace(BEYOND_ASCII, (part) =>
      part.length === 1
        ? String.fromCharCode(0xdc00 + part.charCodeAt(0))
        : Buffer.from(part, 'latin1').toString('utf8'),
    );
}

/** A lone low surrogate that represents a byte; the `u` flag keeps real pairs together. */
const FOREIGN = /([\udc80-\udcff])/u;

/** In bytes as Latin-1 characters: the well-formed sequences of UTF-8 (table 3-7 of the Unicode standard), or any other byte. */
const BEYOND_ASCII =
  /[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])[\x80-\xbf]|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{2}|[\x80-\xff]/g;
