import { expect, test } from 'vitest';
import { ImageRoom } from '../../../src/agent/calls/shown-outcome.ts';
import { redactorFor } from '../../../src/domain/secrets/redact.ts';
import { pngImage } from '../../support/files/images.ts';

const SECRET = 'hunter2-hunter2-hunter2';
const image = (bytes: Uint8Array = pngImage()) => ({
  ...{ mediaType: 'image/png' as const, width: 4, height: 3, bytes },
});
const room = (shown = { count: 0, bytes: 0, runBytes: 0 }) => new ImageRoom(shown, redactorFor([SECRET]));

test('images are taken in order, as long as there is room for their number and bytes', () => {
  const last = room({ count: 19, bytes: 0, runBytes: 0 });
  const { images, notes } = last.take([image(), image()]);
  expect(images).toEqual([
    { mediaType: 'image/png', width: 4, height: 3, data: pngImage().toString('base64') },
  ]);
  expect(notes).toEqual(['[Not shown: the conversation has 20 images already.]']);
  const full = { count: 1, bytes: 12 * 1024 * 1024 - 10, runBytes: 12 * 1024 * 1024 };
  expect(room(full).take([image()])).toEqual({
    images: [],
    notes: ['[Not shown: the images of a conversation may have 12,582,912 bytes together.]'],
  });
  expect(room({ count: 0, bytes: 0, runBytes: 96 * 1024 * 1024 }).take([image()]).images).toEqual([]);
});

test('an image with a secret in its bytes is not shown', () => {
  const { images, notes } = room().take([image(pngImage(4, 3, `token ${SECRET}`)), image()]);
  expect(images).toHaveLength(1);
  expect(notes).toEqual(['[Not shown: it holds a secret of this run.]']);
});
