/** Images that the model is shown, and the bounds that the APIs have for them. Nothing of an image is unpacked here. */

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
