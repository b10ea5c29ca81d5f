import { expect, test } from 'vitest';
import { shownAnswer } from '../../../src/domain/mcp/result-text.ts';
import { pngImage } from '../../support/files/images.ts';

test('images of an answer are shown where they are images, whatever the server calls them', () => {
  const data = pngImage(40, 30).toString('base64');
  const answer = {
    content: [
      { type: 'image', data, mimeType: 'image/jpeg' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'image', data: `${data}!`, mimeType: 'image/png' },
      { type: 'audio', data, mimeType: 'audio/wav' },
    ],
  };
  const { images, text } = shownAnswer(answer);
  expect(images).toEqual([
    { mediaType: 'image/png', width: 40, height: 30, bytes: new Uint8Array(pngImage(40, 30)) },
  ]);
  expect(text.split('\n\n')).toEqual([
    `[a PNG image of 40 x 30 pixels, ${pngImage(40, 30).length} bytes]`,
    '[image of 3 bytes, image/png: not shown]',
    expect.stringContaining('image/png: not shown]'),
    expect.stringContaining('audio/wav: not shown]'),
  ]);
});

test('images are looked at up to the number and the size that a conversation takes', () => {
  const image = (bytes: number) => {
    const data = Buffer.concat([pngImage(40, 30), Buffer.alloc(bytes)]).toString('base64');
    return { type: 'image', data, mimeType: 'image/png' };
  };
  const many = shownAnswer({ content: Array.from({ length: 50 }, () => image(2)) });
  expect(many.images).toHaveLength(20);
  expect(many.text.match(/image\/png: not shown/g)).toHaveLength(30);
  const large = shownAnswer({ content: [image(6_000_000)] });
  expect(large).toEqual({
    images: [],
    text: expect.stringMatching(/^\[image of 6,000,\d+ bytes, image\/png: not shown\]$/),
  });
});
