/**
 * Images that the model is shown, what their first bytes say of format and size, and the bounds that the APIs have for them. Names
 * of files say nothing, and nothing is unpacked.
 */

import * as z from 'zod';
import { formatNumber } from '../text/words.ts';

/** The formats that models take. */
const MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/** An image as it is recorded, and sent in every request from then on. */
export const Image = z.strictObject({
  mediaType: z.enum(MEDIA_TYPES),
  /** In pixels, as its first bytes say. */
  width: z.int().positive(),
  height: z.int().positive(),
  /** The file, in base64. */
  data: z.string().min(1),
});
export type Image = z.infer<typeof Image>;

/** An image that a tool has found. */
export type FoundImage = Omit<Image, 'data'> & { readonly bytes: Uint8Array };

/** 5 MiB in base64: what the Claude API takes. */
export const MAX_IMAGE_BYTES = 3_932_160;
/** Pixels along one side. */
const MAX_SIDE = 8_000;
/** With more of them in one request, the Claude API takes only smaller ones. */
export const MAX_IMAGES = 20;
/** Of all images of a conversation together: a request has 20 to 32 MB, in base64. */
export const MAX_CONVERSATION_BYTES = 12 * 1024 * 1024;
/** Of all images of a run: each is in the journal, which is read again as a whole. */
export const MAX_RUN_BYTES = 96 * 1024 * 1024;

/** `a PNG image of 800 x 600 pixels, 12,345 bytes`. */
export function describeImage({ mediaType, width, height, bytes }: FoundImage): string {
  const size = `${formatNumber(width)} x ${formatNumber(height)} pixels`;
  return `a ${NAMES[mediaType]} image of ${size}, ${formatNumber(bytes.length)} bytes`;
}

const NAMES = { 'image/png': 'PNG', 'image/jpeg': 'JPEG', 'image/gif': 'GIF', 'image/webp': 'WebP' } as const;

/** Why no API takes the image, as the end of a sentence; null for one that it may take. */
export function tooLargeImage({ width, height, bytes }: FoundImage): string | null {
  if (bytes.length > MAX_IMAGE_BYTES)
    return `images of more than ${formatNumber(MAX_IMAGE_BYTES)} bytes are not shown`;
  if (Math.max(width, height) > MAX_SIDE)
    return `images of more than ${formatNumber(MAX_SIDE)} pixels a side are not shown`;
  return null;
}

/** Bytes of the file. */
export function imageBytes({ data }: Pick<Image, 'data'>): number {
  return Math.floor((data.length * 3) / 4);
}

/** Pixels for one token, and the most tokens of an image, which is made smaller before it is looked at. */
const PIXELS_PER_TOKEN = 750;
const MOST_TOKENS = 5_000;

/** Tokens that an image is reckoned with, whatever its bytes are. */
export function imageTokens({ width, height }: Pick<Image, 'width' | 'height'>): number {
  return Math.min(MOST_TOKENS, Math.ceil((width * height) / PIXELS_PER_TOKEN));
}

/** Null for a format that models do not accept, or one without a size. */
export function imageIn(bytes: Uint8Array): FoundImage | null {
  const format = FORMATS.find(({ begins }) => begins(bytes));
  if (format === undefined) return null;
  const { mediaType, size } = format;
  try {
    const { width, height } = size(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)) ?? NONE;
    return width < 1 || height < 1 ? null : { mediaType, width, height, bytes };
  } catch (error) {
    // It ends before it says how large it is.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const NONE: Size = { width: 0, height: 0 };

interface Format {
  readonly mediaType: Image['mediaType'];
  begins(bytes: Uint8Array): boolean;
  /** Null when it does not say. Throws RangeError where the bytes end too early. */
  size(view: DataView): Size | null;
}

const FORMATS: readonly Format[] = [
  { mediaType: 'image/png', begins: (bytes) => isAt(bytes, 0, '\x89PNG\r\n\x1a\n'), size: pngSize },
  { mediaType: 'image/jpeg', begins: (bytes) => isAt(bytes, 0, '\xff\xd8\xff'), size: jpegSize },
  {
    mediaType: 'image/gif',
    begins: (bytes) => isAt(bytes, 0, 'GIF87a') || isAt(bytes, 0, 'GIF89a'),
    size: (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  },
  {
    mediaType: 'image/webp',
    begins: (bytes) => isAt(bytes, 0, 'RIFF') && isAt(bytes, 8, 'WEBP'),
    size: webpSize,
  },
];

function isAt(bytes: Uint8Array, at: number, latin1: string): boolean {
  return [...latin1].every((char, index) => bytes[at + index] === char.charCodeAt(0));
}

function wordAt(view: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((nth) => view.getUint8(at + nth)));
}

/** Its first chunk says it. */
function pngSize(view: DataView): Size | null {
  if (wordAt(view, 12) !== 'IHDR') return null;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

/** Markers from C0 to CF begin a frame, which says it, but for three of them. */
const NO_FRAME = [0xc4, 0xc8, 0xcc];
const START_OF_SCAN = 0xda;

function jpegSize(view: DataView): Size | null {
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && !NO_FRAME.includes(marker);
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    if (marker === START_OF_SCAN) return null;
    // A marker may have any number of these before it; all others that stand before a frame have a length.
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return null;
}

function webpSize(view: DataView): Size | null {
  switch (wordAt(view, 12)) {
    case 'VP8 ':
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X': {
      const uint24 = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
      return { width: uint24(24) + 1, height: uint24(27) + 1 };
    }
    default:
      return null;
  }
}
