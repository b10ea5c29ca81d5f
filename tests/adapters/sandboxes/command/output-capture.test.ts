import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputCapture } from '../../../../src/adapters/sandboxes/command/output-capture.ts';

const capture = (limits: { head: number; tail: number }, chunks: readonly (string | Uint8Array)[]) => {
  const output = new OutputCapture(limits);
  for (const chunk of chunks) output.write(Buffer.from(chunk as string));
  return output.excerpt();
};

test('output that fits is whole', () => {
  expect(capture({ head: 4, tail: 4 }, ['ab', 'cd', 'efg', 'h'])).toEqual({
    head: 'abcdefgh',
    omitted: 0,
    tail: '',
  });
});

test('short output takes no room for a long one', () => {
  const before = process.memoryUsage().arrayBuffers;
  const captures = Array.from({ length: 100 }, () => new OutputCapture());
  for (const output of captures) output.write(Buffer.from('ok'));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  expect(captures.map((output) => output.excerpt().head)).toEqual(captures.map(() => 'ok'));
});

test('no output is empty', () => {
  expect(capture({ head: 4, tail: 4 }, [])).toEqual({ head: '', omitted: 0, tail: '' });
});

test('of more than fits, the middle is counted and dropped', () => {
  expect(capture({ head: 4, tail: 3 }, ['abc', 'def', 'ghi', 'jklm'])).toEqual({
    head: 'abcd',
    omitted: 6,
    tail: 'klm',
  });
});

test('a pair of surrogates is split at neither end', () => {
  expect(capture({ head: 2, tail: 2 }, ['a😀bc😀d'])).toEqual({ head: 'a', omitted: 6, tail: 'd' });
});

test('an unfinished character at the end is U+FFFD', () => {
  expect(capture({ head: 9, tail: 9 }, ['ä', Uint8Array.of(0xc3)])).toEqual({
    head: 'ä\ufffd',
    omitted: 0,
    tail: '',
  });
});

test('however the bytes are cut, both ends are those of the decoded text and every character is counted', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.uint8Array({ maxLength: 20 }), fc.string({ unit: 'grapheme', maxLength: 20 }))),
      fc.nat(30),
      fc.nat(30),
      (chunks, head, tail) => {
        const text = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as string))).toString('utf8');
        const kept = capture({ head, tail }, chunks);
        expect(kept.head.length + kept.omitted + kept.tail.length).toBe(text.length);
        expect(text.startsWith(kept.head) && text.endsWith(kept.tail)).toBe(true);
        if (kept.omitted === 0) {
          expect(text.length).toBeLessThanOrEqual(head + tail);
          return;
        }
        // A pair of surrogates at a cut costs one character.
        expect(text.length).toBeGreaterThanOrEqual(head + tail);
        expect([head, head - 1]).toContain(kept.head.length);
        expect([tail, tail - 1]).toContain(kept.tail.length);
      },
    ),
  );
});
