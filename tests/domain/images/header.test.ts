import { expect, test } from 'vitest';
import { imageIn } from '../../../src/domain/images/image.ts';
import { GIF, jpegImage, pngImage, WEBP } from '../../support/files/images.ts';

const sizeOf = (bytes: Uint8Array) => {
  const image = imageIn(bytes);
  return image && [image.mediaType, image.width, image.height];
};

/** The two newer kinds of WebP, as far as they say their size. */
const webp = (chunk: string, data: string) =>
  Buffer.concat([Buffer.from(`RIFF\0\0\0\0WEBP${chunk}\0\0\0\0`, 'latin1'), Buffer.from(data, 'hex')]);

test('an image says by its first bytes what it is and how large it is', () => {
  expect(sizeOf(pngImage(300, 2))).toEqual(['image/png', 300, 2]);
  expect(sizeOf(jpegImage(640, 480))).toEqual(['image/jpeg', 640, 480]);
  expect(sizeOf(GIF)).toEqual(['image/gif', 1, 1]);
  expect(sizeOf(WEBP)).toEqual(['image/webp', 1, 1]);
  expect(sizeOf(webp('VP8L', '2f8f014b00'))).toEqual(['image/webp', 400, 301]);
  expect(sizeOf(webp('VP8X', '000000008f01002c0100'))).toEqual(['image/webp', 400, 301]);
});

test('what ends before it says so, or says nonsense, is none', () => {
  for (const whole of [pngImage(), jpegImage(640, 480), WEBP, webp('VP8X', '000000008f01002c0100')])
    for (let end = 0; end < 22; end += 1) expect(sizeOf(whole.subarray(0, end))).toBeNull();
  expect(sizeOf(GIF.subarray(0, 9))).toBeNull();
  expect(sizeOf(jpegImage(0, 480))).toBeNull();
  expect(sizeOf(Buffer.alloc(4_000_000, 0xff))).toBeNull();
  expect(sizeOf(Buffer.from('<svg/>'))).toBeNull();
});
