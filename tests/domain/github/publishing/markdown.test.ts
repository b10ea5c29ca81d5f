import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  code,
  codeCell,
  escaped,
  fenced,
  pathCell,
  pathCode,
  quoted,
  textCell,
} from '../../../../src/domain/github/publishing/markdown.ts';
import { prose } from '../../../../src/domain/github/publishing/prose.ts';
import { randomCases } from '../../../support/setup/sample.ts';
import { hostileText as hostile } from '../../../support/text/hostile-text.ts';
import { dangersIn, piecesOf, readableText } from '../../../support/text/rendered.ts';

const often = { numRuns: randomCases(600) };

describe('hostile text is nothing but text', () => {
  test.each<[string, (text: string) => string]>([
    ['running text', (text) => escaped(text)],
    ['running text after words of ours', (text) => `Fixes ${escaped(text)} closes ${escaped(text)}`],
    ['running text between marks of ours', (text) => `- **x** ${escaped(text)} \`y\``],
    ['a code span', (text) => code(text)],
    ['a code span after words of ours', (text) => `Fixes ${code(text)} and ${code(text)}`],
    ['a file name', (text) => pathCode(text)],
    ['a row of a table', (text) => `| a | b |\n|---|---|\n| ${pathCell(text)} | ${textCell(text)} |`],
    ['a block of code', (text) => quoted(fenced(text, 400))],
    ['a block of code that is cut', (text) => `x\n\n${quoted(fenced(text, 120))}\n\ny`],
    ['prose', (text) => quoted(prose(text, 2_000))],
    ['prose that is cut', (text) => quoted(prose(text, 120))],
  ])('in %s', (_, render) => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(dangersIn(render(text))).toEqual([]);
      }),
      often,
    );
  });

  test('in a table, a cell stays a cell', () => {
    fc.assert(
      fc.property(hostile, hostile, (one, two) => {
        const table = `| a | b |\n|---|---|\n| ${codeCell(one)} | ${textCell(two)} |\n| end | end |`;
        const cells = piecesOf(table).filter(({ type }) => type === 'tableCell');
        expect(cells).toHaveLength(6);
      }),
      often,
    );
  });

  test('a code block contains all of its text, and nothing of what follows', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const kinds = piecesOf(`${fenced(text, 10_000)}\n\nafter`).map(({ type }) => type);
        expect(kinds).toEqual(['root', 'code', 'paragraph', 'text']);
      }),
      often,
    );
  });

  test('a quotation contains all of its prose', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const page = piecesOf(`${quoted(prose(text, 2_000))}\n\n# after`);
        expect(page.at(-2)).toEqual({ type: 'heading', text: '' });
      }),
      often,
    );
  });
});

describe('text that means no harm', () => {
  test.each([
    ['Rounds `0.5` to even in snake_case_names.', 'Rounds \\`0.5\\` to even in snake_case_names.'],
    ['R&D: 3 < 4 && 5 > 4', 'R&D: 3 &lt; 4 && 5 > 4'],
    ['Bump @types/node to #24', 'Bump @&#8203;types/node to #&#8203;24'],
    ['- not a list', '\\- not a list'],
    ['2. not a list', '2\\. not a list'],
    ['/approve', '\\/approve'],
    ['a high-5 for C#', 'a high-5 for C#'],
  ])('%j is escaped no more than it needs', (text, expected) => {
    expect(escaped(text)).toBe(expected);
  });

  test('reads as it was written', () => {
    const printable = fc.string({ unit: 'grapheme-ascii', maxLength: 60 });
    fc.assert(
      fc.property(printable, (text) => {
        const shown = readableText(escaped(text)).replaceAll('\u200b', '');
        expect(shown).toBe(text.trim().replace(/##(?=[\w.-]*\[)/g, '# #'));
      }),
      often,
    );
  });

  test('code reads as it was written', () => {
    const printable = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(printable, (text) => {
        const shown = readableText(`x${code(text)}x`).replaceAll('\u200b', '');
        expect(shown).toBe(`x${text.replace(/##(?=[\w.-]*\[)/g, '# #')}x`);
      }),
      often,
    );
  });
});

describe('file names', () => {
  test.each([
    ['src/a.ts', '`src/a.ts`'],
    ['a|b`c.md', '``a|b`c.md``'],
    ['a\nb', '`"a\\nb"`'],
    ['a\u202eb', '`"a\\u202eb"`'],
    ['a\u{e0041}b', '`"a\\udb40\\udc41b"`'],
    ['\udc80', '`"\\udc80"`'],
    [' a', '`" a"`'],
    ['`', '`` ` ``'],
    ['app/[...slug]/@modal/#1.tsx', '`app/[...slug]/@modal/#\u200b1.tsx`'],
  ])('%j is shown as %j', (path, expected) => {
    expect(pathCode(path)).toBe(expected);
  });
});

describe('prose', () => {
  test('keeps paragraphs, lists, code and bold words', () => {
    const text = [
      '# Rounding',
      'Amounts are rounded **half to even** in `money.ts`.',
      '',
      '* `round()` is new',
      '  - with a test',
      '2) done',
      '',
      '```ts',
      'round(0.5); // # 0',
      '```',
      'That is *all*.',
    ].join('\n');
    expect(prose(text, 5_000)).toBe(
      [
        '**Rounding**',
        '',
        'Amounts are rounded **half to even** in `money.ts`.',
        '',
        '- `round()` is new',
        '   - with a test',
        '2) done',
        '',
        '```text',
        'round(0.5); // # 0',
        '```',
        '',
        'That is \\*all\\*.',
      ].join('\n'),
    );
  });

  test('of white space is empty', () => {
    expect(prose(' \n\t\u200b', 100)).toBe('');
  });
});

describe('long text', () => {
  const filler = fc.constantFrom('@a ', '$', '`', '#1\n', 'word ', '<', '😀', '|', '- x\n', '[skip ci]');
  const long = fc
    .tuple(filler, fc.integer({ min: 1, max: 20_000 }))
    .map(([part, times]) => part.repeat(times));

  test('never takes more room than it is given, and says what is missing', () => {
    fc.assert(
      fc.property(long, fc.integer({ min: 200, max: 5_000 }), (text, max) => {
        for (const render of [prose, fenced]) {
          const shown = render(text, max);
          expect(shown.length).toBeLessThanOrEqual(max);
          expect(render(text, Number.POSITIVE_INFINITY).length > max).toBe(
            shown.includes(' characters left out'),
          );
        }
      }),
      { numRuns: randomCases(200) },
    );
  });

  test('shows both ends of an output', () => {
    const text = `first\n${'x'.repeat(5_000)}\nlast`;
    const shown = fenced(text, 400);
    expect(shown).toMatch(/^```text\nfirst\nx+\n… 4,\d{3} characters left out …\nx+\nlast\n```$/);
  });
});
