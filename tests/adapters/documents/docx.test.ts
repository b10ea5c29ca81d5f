import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { docxText, unzip } from '../../../src/adapters/documents/docx.ts';
import { isDocx } from '../../../src/adapters/documents/kinds.ts';
import { docxOf, paragraph, zipOf } from '../../support/documents/docx.ts';

test('paragraphs are lines, with headings, lists and tables as in Markdown', () => {
  const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`;
  const text = docxText(
    docxOf(
      [
        paragraph('Plan', '<w:pStyle w:val="Heading1"/>'),
        paragraph('A &amp; B &lt;c&gt;'),
        paragraph('first', '<w:numPr><w:numId w:val="1"/></w:numPr>'),
        '<w:p><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t></w:r></w:p>',
        `<w:tbl><w:tr>${cell('x')}${cell('y')}</w:tr><w:tr>${cell('1')}${cell('2')}</w:tr></w:tbl>`,
        '<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:instrText>PAGE</w:instrText></w:p>',
        '<w:p><mc:AlternateContent><mc:Choice><w:t>box</w:t></mc:Choice><mc:Fallback><w:t>box</w:t></mc:Fallback></mc:AlternateContent></w:p>',
      ].join(''),
    ),
  );
  expect(text).toBe('# Plan\nA & B <c>\n- first\none\ttwo\nthree\n| x | y |\n| 1 | 2 |\n\nbox\n');
});

test('a file that would exceed its bound, or is packed in another way, is not unpacked', () => {
  const bomb = zipOf({ 'word/document.xml': 'x' }, deflateRawSync(Buffer.alloc(2_000_000)));
  expect(() => unzip(bomb, 'word/document.xml', 1_000_000)).toThrow(RangeError);
  expect(() => unzip(Buffer.from('PK\x03\x04 nothing more of it'), 'a', 10)).toThrow(RangeError);
  expect(unzip(zipOf({ a: 'text' }), 'b', 10)).toBeNull();
  expect(unzip(zipOf({ a: 'text', b: 'other' }), 'b', 10)?.toString()).toBe('other');
  expect(isDocx(zipOf({ a: 'text' }))).toBe(false);
  expect(isDocx(docxOf(''))).toBe(true);
});

test('an archive with any changed bytes is read, or refused with the right reason', () => {
  const archive = docxOf(paragraph('text'));
  const change = fc.tuple(fc.nat(archive.length - 1), fc.nat(255));
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
      const bytes = Buffer.from(archive);
      for (const [at, value] of changes) bytes[at] = value;
      try {
        docxText(bytes);
      } catch (error) {
        const { name, code = '' } = error as NodeJS.ErrnoException;
        expect(`${name} ${code}`).toMatch(/^RangeError|Z_|ERR_BUFFER_TOO_LARGE/);
      }
    }),
  );
});
