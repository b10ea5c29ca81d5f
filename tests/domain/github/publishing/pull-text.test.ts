import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { markedPart, updatedText } from '../../../../src/domain/github/publishing/pull-text.ts';

const MARKER = '<!-- patchsmith:1a2b3c4d -->';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const part = (title: string, words: string) =>
  markedPart({ title, body: `${words}\n\n${MARKER}` }, MARKER, sha256);
const first = part('Round amounts', 'First account.');
const second = part('Round all amounts', 'Second account.');
const update = (there: { title: string; body: string }, text = second) =>
  updatedText(there, text, { marker: MARKER, sha256 });

describe('the text of a pull request', () => {
  test('is replaced where people have left it alone, and the next time again', () => {
    const once = update(first);
    expect(once).toEqual({ status: 'ok', text: second });
    expect(update(second, first)).toEqual({ status: 'ok', text: first });
  });

  test('keeps what people wrote around our part and the title that they gave it, whatever they wrote', () => {
    const words = fc.string({ unit: 'grapheme', maxLength: 200 }).filter((text) => !text.includes('\r'));
    fc.assert(
      fc.property(words, words, words, (before, after, title) => {
        fc.pre(![first.title, second.title].includes(title.trim()));
        const there = { title, body: `${before}${first.body}${after}`.replaceAll('\n', '\r\n') };
        const text = { title, body: `${before}${second.body}${after}` };
        expect(update(there)).toEqual({ status: 'ok', text });
      }),
    );
  });

  test('is theirs altogether when a marker of ours is gone', () => {
    const without = first.body.replace(/^<!--.*-->/, '');
    for (const body of ['', 'Mine', without, first.body.replace(MARKER, ''), MARKER])
      expect(update({ ...first, body })).toEqual({ status: 'gone' });
    const other = MARKER.replace('1a2b', 'ffff');
    expect(update({ ...first, body: first.body.replaceAll('1a2b', 'ffff') })).toEqual({ status: 'gone' });
    expect(update({ ...first, body: `${other}\n${first.body}` })).toMatchObject({ status: 'ok' });
  });

  test('never grows longer than GitHub takes', () => {
    const body = `${first.body}${'x'.repeat(65_536 - second.body.length)}`;
    expect(update({ ...first, body })).toMatchObject({ status: 'ok' });
    expect(update({ ...first, body: `${body}xx` })).toEqual({ status: 'full' });
  });
});
