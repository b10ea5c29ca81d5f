/** Content stored in the work tree in an encoding other than UTF-8 (git's `working-tree-encoding` attribute). */

import type { Failed } from '../../../domain/failed.ts';

/** The contents in UTF-8, or why they cannot be converted. */
export type Utf8Result = { status: 'ok'; bytes: Buffer } | Failed;

/**
 * Decodes as git does when it stores a file. UTF-16 and UTF-32 require a byte order mark; with LE or BE in the name it is
 * forbidden.
 */
export function toUtf8(raw: Buffer, encoding: string): Utf8Result {
  const name = encoding.toUpperCase().replace(/^UTF(\d)/, 'UTF-$1');
  if (raw.length === 0) return { status: 'ok', bytes: raw };
  const failed = (why: string): Utf8Result => ({ status: 'failed', message: `${why} for ${encoding}` });
  const width = name.startsWith('UTF-16') ? 2 : name.startsWith('UTF-32') ? 4 : 0;
  if (width === 0) return decode(raw, encoding) ?? failed('the content is not valid');
  const mark = byteOrderMark(raw, width);
  const stated = /^UTF-(?:16|32)(LE|BE)(-BOM)?$/.exec(name);
  const forbidsMark = stated !== null && stated[2] === undefined;
  if (!forbidsMark && mark === null) return failed('the byte order mark is missing');
  if (forbidsMark && mark !== null) return failed('a byte order mark is forbidden');
  const order = stated?.[1] ?? mark ?? 'BE';
  const body = mark === null ? raw : raw.subarray(width);
  const utf16 = width === 2 ? body : utf32ToUtf16(body, order);
  const decoded = utf16 && decode(utf16, width === 2 && order === 'BE' ? 'utf-16be' : 'utf-16le');
  return decoded ?? failed('the content is not valid');
}

function decode(raw: Buffer, encoding: string): Utf8Result | null {
  if (/^(iso-?8859-1|latin-?1)$/i.test(encoding)) {
    // The web's `latin1` is windows-1252, which differs in 0x80 … 0x9f.
    return { status: 'ok', bytes: Buffer.from(raw.toString('latin1'), 'utf8') };
  }
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(raw);
    return { status: 'ok', bytes: Buffer.from(text, 'utf8') };
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}

function byteOrderMark(raw: Buffer, width: number): 'LE' | 'BE' | null {
  const mark = raw.subarray(0, width).toString('hex');
  if (mark === (width === 2 ? 'fffe' : 'fffe0000')) return 'LE';
  return mark === (width === 2 ? 'feff' : '0000feff') ? 'BE' : null;
}

/** Little-endian UTF-16; null if the content is not valid UTF-32. */
function utf32ToUtf16(body: Buffer, order: string): Buffer | null {
  if (body.length % 4 !== 0) return null;
  let text = '';
  for (let at = 0; at < body.length; at += 4) {
    const code = order === 'LE' ? body.readUInt32LE(at) : body.readUInt32BE(at);
    if (code > 0x10ffff) return null;
    text += String.fromCodePoint(code);
  }
  return Buffer.from(text, 'utf16le');
}
