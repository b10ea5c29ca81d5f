import { expect, test } from 'vitest';
import { imagesOfAnswer, textOfAnswer } from '../../../src/domain/mcp/result-text.ts';
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
  expect(imagesOfAnswer(answer)).toEqual([
    { mediaType: 'image/png', width: 40, height: 30, bytes: new Uint8Array(pngImage(40, 30)) },
  ]);
  expect(textOfAnswer(answer, null).split('\n\n')).toEqual([
    `[a PNG image of 40 x 30 pixels, ${pngImage(40, 30).length} bytes]`,
    '[image of 3 bytes, image/png: not shown]',
    expect.stringContaining('image/png: not shown]'),
    expect.stringContaining('audio/wav: not shown]'),
  ]);
});
