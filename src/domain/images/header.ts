/** What the first bytes of an image say: its format and size. Names of files say nothing, and nothing is unpacked. */

import type { FoundImage, Image } from './image.ts';

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
