/** Small images of each format, and what an API that looks at them finds wrong. */

import { crc32, deflateSync, inflateSync } from 'node:zlib';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** A whole PNG image, all black, with `text` in its metadata. */
export function pngImage(width = 4, height = 3, text = ''): Buffer {
  const rows = Buffer.alloc((width + 1) * height);
  return Buffer.concat([
    pngHeader(width, height),
    ...(text === '' ? [] : [chunk('tEXt', Buffer.from(`Comment\0${text}`, 'latin1'))]),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The beginning of a PNG image, which says how large it is. */
export function pngHeader(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits of grey a pixel.
  header[8] = 8;
  return Buffer.concat([PNG, chunk('IHDR', header)]);
}

function chunk(type: string, data: Buffer): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** One pixel, as every browser knows it. */
export const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** One pixel. */
export const WEBP = Buffer.from('UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAQAcJaQAA3AA/v3AgAA=', 'base64');

/** The markers of a JPEG image of this size, as far as its first scan. */
export function jpegImage(width: number, height: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16BE(height, 0);
  size.writeUInt16BE(width, 2);
  return Buffer.concat([
    Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
    // A table of Huffman codes, whose marker looks like that of a frame.
    Buffer.from('ffc40003', 'hex'),
    Buffer.from('00', 'hex'),
    Buffer.from('ffc0000b08', 'hex'),
    size,
    Buffer.from('01011100ffda0008010100003f00d2cfffd9', 'hex'),
  ]);
}

/** What an API answers to an image; null for one that it takes. `many`: there are more than 20 in the request. */
export function imageProblem(mediaType: unknown, data: unknown, many = false): string | null {
  if (typeof data !== 'string' || data === '') return 'image data: Input should be a valid string';
  if (data.length > 5 * 1024 * 1024)
    return `image exceeds 5 MB maximum: ${data.length} bytes > 5242880 bytes`;
  const bytes = Buffer.from(data, 'base64');
  if (bytes.toString('base64') !== data) return 'image data: invalid base64';
  const kind = KINDS.find(({ begins }) => bytes.subarray(0, 12).toString('latin1').match(begins) !== null);
  if (kind === undefined) return 'Could not process image';
  if (kind.mediaType !== mediaType)
    return `The image was specified using the ${String(mediaType)} media type, but the image appears to be a ${kind.mediaType} image`;
  return kind.mediaType === 'image/png' ? pngProblem(bytes, many ? 2_000 : 8_000) : null;
}

const KINDS = [
  { mediaType: 'image/png', begins: /^\x89PNG\r\n\x1a\n/ },
  { mediaType: 'image/jpeg', begins: /^\xff\xd8\xff/ },
  { mediaType: 'image/gif', begins: /^GIF8[79]a/ },
  { mediaType: 'image/webp', begins: /^RIFF[\s\S]{4}WEBP/ },
];

function pngProblem(bytes: Buffer, most: number): string | null {
  let data = Buffer.alloc(0);
  let size = [0, 0] as [number, number];
  for (let at = PNG.length; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (at + 12 + length > bytes.length) break;
    if (crc32(bytes.subarray(at + 4, at + 8 + length)) !== bytes.readUInt32BE(at + 8 + length)) break;
    if (type === 'IHDR') size = [bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 12)];
    if (Math.max(...size) > most)
      return `At least one of the image dimensions exceed max allowed size: ${most} pixels`;
    if (type === 'IDAT') data = Buffer.concat([data, bytes.subarray(at + 8, at + 8 + length)]);
    if (type === 'IEND') return isWhole(data, size) ? null : 'Could not process image';
    at += 12 + length;
  }
  return 'Could not process image';
}

function isWhole(data: Buffer, [width, height]: [number, number]): boolean {
  try {
    return inflateSync(data).length === (width + 1) * height;
  } catch {
    return false;
  }
}
