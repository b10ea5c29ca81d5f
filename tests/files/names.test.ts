import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeName, encodeName } from '../../src/files/names.ts';

describe('file names', () => {
  test('any bytes survive the way to a string and back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(encodeName(decodeName(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test('UTF-8 is unchanged, and a foreign byte becomes a lone surrogate', () => {
    const bytes = Buffer.concat([
      Buffer.from('é💀\ufffd'),
      Buffer.of(0xe9, 0xed, 0xb2, 0x80, 0xf0, 0x9f),
      Buffer.from('z'),
    ]);
    const name = 'é💀\ufffd\udce9\udced\udcb2\udc80\udcf0\udc9fz';
    expect(decodeName(bytes)).toBe(name);
    expect(encodeName(name)).toEqual(bytes);
  });
});
