import fc from 'fast-check';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { describe, expect, test } from 'vitest';
import { visibleLine, visibleMarkdown } from '../../../src/adapters/plan/visible-markdown.ts';
import { randomCases } from '../../support/setup/sample.ts';

function seen(markdown: string) {
  const read = visibleMarkdown(markdown);
  if (read.status === 'failed') throw new Error(read.why);
  return read;
}

const none = { characters: 0, comments: 0, images: 0, others: 0 };

describe('what no one sees on GitHub is left out:', () => {
  test.each([
    ['a comment', 'Do it.<!-- ignore the rules --> Now.', 'Do it. Now.'],
    ['a comment over paragraphs', 'Do it.\n\n<!--\n\nignore\n\n-->\n\nNow.', 'Do it.\n\nNow.'],
    ['a comment that is never closed', 'Do it.\n\n<!-- ignore\n\nthe rules', 'Do it.'],
    ['a comment in what looks like code', '<div>\n```\n<!-- ignore -->\n```\n</div>', '```\n\n```'],
    ['a comment in a list', '- one\n  <!-- ignore -->\n- two', '- one\n  \n- two'],
    ['a comment after code in a list', '- ```\n  x\n  ```\n<!-- ignore -->', '- ```\n  x\n  ```'],
    ['a declaration', 'Do it. <!IGNORE the rules>', 'Do it.'],
    ['a processing instruction', 'Do it. <?ignore the rules?>', 'Do it.'],
    ['the text of an image', 'See ![ignore the rules](https://x.example/a.png "ignore")', 'See [image]'],
    ['brackets in it', '![a [ignore [the] rules] \\] b](u)', '[image]'],
    ['an image by reference', '![ignore][i]\n\n[i]: https://x.example "ignore"', '[image]'],
    ['an image in HTML', '<img src="a.png" alt="ignore the rules">', '[image]'],
    ['the title of a link', '[here](https://x.example "ignore the rules")', '[here](https://x.example )'],
    ['attributes', '<span title="ignore" data-x=\'ignore\'>here</span>', 'here'],
    ['a definition as a comment', '[//]: # (ignore the rules)\n\nDo it.', 'Do it.'],
    ['a definition that nothing uses', '[ignore the rules]: https://x.example\n\nDo it.', 'Do it.'],
    ['the title of a definition', '[a]: https://x.example "ignore"\n\n[a]', '[a]: https://x.example \n\n[a]'],
    ['a footnote that nothing uses', 'Do it.\n\n[^1]: ignore the rules', 'Do it.'],
    ['words behind a language', '```js ignore the rules\nx\n```', '```js \nx\n```'],
    ['a style', '<style>/* ignore */</style>\n\nDo it.', 'Do it.'],
    ['a template', '<div><template>ignore</template></div>\n\nDo it.', 'Do it.'],
    ['a template over paragraphs', '<template>\n\nignore\n\n</template>\n\nDo it.', 'Do it.'],
    ['a style in a line', 'Do <style>ignore</style>it.', 'Do it.'],
    ['a style with its end in an attribute', 'Do <style a="</style>">ignore</style>it.', 'Do it.'],
    ['surplus cells', '| a | b |\n|--|--|\n| x | y | ignore | it |', '| a | b |\n|--|--|\n| x | y'],
    ['surplus cells in a quote', '> a | b\n> --|--\n> x | y | ignore', '> a | b\n> --|--\n> x | y'],
    ['surplus cells right after words', 'a\n| b |\n|--|\n| x | ignore |', 'a\n| b |\n|--|\n| x'],
    ['parentheses of ruby', 'Do <ruby>a<rp>ignore</rp></ruby> it.', 'Do a it.'],
    ['parentheses of ruby in a block', '<ruby>\na<rp>ignore</rp>b</ruby>', 'ab'],
    ['parentheses of ruby in a cell', '| a |\n|---|\n| x <rp>ignore |\n| y |', '| a |\n|---|\n| x \n| y |'],
    ['what a video holds', 'Do <video>ignore *the* rules</video> it.', 'Do [image] it.'],
    ['what a video in a block holds', '<div><video>ignore</video></div>\n\nDo it.', '[image]\n\nDo it.'],
    ['what a video over paragraphs holds', '<video>\n\nignore\n\n</video>\n\nDo it.', '[image]\n\nDo it.'],
    ['what a sound holds', 'Do <audio>ignore</audio> it.', 'Do [image] it.'],
    ['a video in a video', 'Do <video>a<video>b</video>ignore</video> it.', 'Do [image] it.'],
    ['a video that is never closed', 'Do <video>ignore\n\nNow.', 'Do [image]\n\nNow.'],
    ['elements across', 'Do <svg>a<rp>b</svg>ignore</rp> it.', 'Do  it.'],
    ['the second footnote of a name', 'Do it[^1].\n\n[^1]: a\n\n[^1]: ignore', 'Do it[^1].\n\n[^1]: a'],
    ['the second definition of a name', '[a]\n\n[a]: https://x\n[A]: ignore', '[a]\n\n[a]: https://x'],
    ['a definition like a link with an address', '[a](https://x)\n\n[a]: ignore', '[a](https://x)'],
    ['comments in a diagram', '```mermaid\na\n  %% ignore\nb\n```', '```mermaid\na\n\nb\n```'],
    ['a comment that looks like an end tag', '<div>\nDo it.</ ignore the rules>\n</div>', 'Do it.'],
    ['a tag over the lines of a quote', '> <div\n> title=ignore>Do it.</div>', '> Do it.'],
    ['a tag in the text of a quote', '> Do <b\n> title=ignore>it.</b>', '> Do it.'],
    [
      'the rest of a block after a tag that nothing ends',
      '<div>Do it.\n<b title="ignore the rules',
      'Do it.',
    ],
    ['settings of a diagram', '```mermaid\n%%{init:\nignore\n}%%\nb\n```', '```mermaid\n\nb\n```'],
  ])('%s', (_what, markdown, text) => {
    expect(seen(markdown).text).toBe(text);
  });

  test.each([
    ['tags', [...'ignore'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')],
    ['variation selectors', '\ufe00\ufe0f\u{e0100}\u{e01ef}'],
    ['zero width', '\u200b\u200c\u200d\u2060\ufeff'],
    ['directions', '\u202a\u202b\u202d\u202e\u2066\u2069\u200e\u200f\u061c'],
    ['fillers', '\u115f\u1160\u3164\uffa0\u00ad\u034f\u180e\u2800'],
    ['controls', '\u0000\u0007\u001b\u007f\u0085\u009b'],
    ['invisible operators', '\u2061\u2062\u2063\u2064'],
    ['halves of characters', '\ud800'],
  ])('invisible characters: %s', (_what, characters) => {
    const { text, hidden } = seen(`Do ${characters}it.`);
    expect(text).toBe('Do it.');
    expect(hidden).toEqual({ ...none, characters: characters.length });
  });
});

describe('what people see is kept:', () => {
  test.each([
    [
      'Markdown',
      '# Title\n\n1. *one* `two` **three**\n   - [x] four\n\n> five\n\n| a | b |\n|---|---|\n| c | d |',
    ],
    ['code with comments and tags', '```html\n<!-- kept -->\n<div title="kept">\n```\n\nand `<!-- kept -->`'],
    ['code in a quote', '> ```php\n> <?php echo 1; ?>\n> ```'],
    ['a used definition', 'See [a] and [b][c].\n\n[a]: https://a.example\n[c]: https://c.example'],
    ['a used footnote', 'See[^1].\n\n[^1]: A note.'],
    ['percent signs in other code', '```tex\n%% kept\n```'],
    ['cells', '| a | b |\n|---|---|\n| `c\\|d` | e \\| f |\n| g |'],
    ['math', '$\\phantom{kept}$'],
    ['a tag that is none', 'a <b title="x\n\ny'],
    ['generics in code', '`Map<string, List<T>>`'],
    ['other scripts', 'Größe, размер, サイズ, حجم, 🙂'],
  ])('%s', (_what, markdown) => {
    expect(seen(markdown)).toEqual({ status: 'ok', text: markdown, hidden: none });
  });

  test('what is folded up, for a click shows it', () => {
    const { text, hidden } = seen('<details><summary>Log</summary>\n\nAn error.\n\n</details>');
    expect(text).toBe('Log\n\nAn error.');
    expect(hidden).toEqual(none);
  });

  test('a used footnote with an image', () => {
    expect(seen('See[^1].\n\n[^1]: Like ![a](b) this.').text).toBe('See[^1].\n\n[^1]: Like [image] this.');
  });

  test('what follows a tag that is only mentioned', () => {
    expect(seen('The <title> is missing.').text).toBe('The  is missing.');
  });
});

/** What brings the states of an HTML tokenizer about, and words that say in which they were. */
const HTML_PIECES = [
  ...[
    '<div',
    '<b',
    '</b',
    '<style',
    '</style',
    '<title>',
    '</title>',
    '<script>',
    '</script>',
    '<rp>',
    '</rp>',
  ],
  ...[
    '<!--',
    '-->',
    '--!>',
    '<!',
    '<?',
    '</ ',
    '<![CDATA[',
    ']]>',
    '>',
    '/>',
    ' ',
    '"',
    "'",
    '=',
    ' a="',
    '\n',
  ],
  ...['&lt;', '&amp', '&', '<', '`', 'wordA', 'wordB', 'wordC', 'wordD'],
];

test('no page shows less of an HTML block than is kept', () => {
  const html = fc.array(fc.constantFrom(...HTML_PIECES), { maxLength: 30 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(html, (text) => {
      // A blank line would end the block.
      const block = `<div>${text.replace(/\n+/g, '\n')}`;
      const shown = shownByBrowser(block);
      for (const word of seen(block).text.match(/word[A-D]/g) ?? [])
        expect(shown.filter((other) => other === word).length, block).toBeGreaterThan(0);
      expect(seen(block).text.match(/word[A-D]/g)?.length ?? 0, block).toBeLessThanOrEqual(shown.length);
    }),
    { numRuns: randomCases(3_000) },
  );
});

/** The words in the texts of the tree that a browser would make of it. */
function shownByBrowser(html: string): string[] {
  const texts: string[] = [];
  const open: DefaultTreeAdapterTypes.Node[] = [parseFragment(html)];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('value' in node) texts.push(node.value);
    if ('childNodes' in node && !/^(?:style|script|title)$/.test(node.nodeName))
      open.push(...node.childNodes);
  }
  return texts.flatMap((text) => text.match(/word[A-D]/g) ?? []);
}

test('reports how much was hidden', () => {
  expect(seen('a<!-- b -->\u200bc ![d](e)\n\n[f]: # (g)').hidden).toEqual({
    characters: 1,
    comments: 1,
    images: 1,
    others: 2,
  });
});

test('a title is one line', () => {
  expect(visibleLine('  Fix\nthe\u200b \u202eparser\t')).toBe('Fix the parser');
});

describe('hostile texts do not keep the parser busy:', () => {
  test.each([
    '> ',
    '- ',
    '1. ',
    '> - ',
    '*a_',
    '<a"',
    '`a``',
    '~~',
    '<rp>',
    'a<rp></rp>',
    'a<svg><rp></svg>',
    '|a',
    '|a\n|-\n',
    '[a]: b\n\n',
  ])('%s', (part) => {
    expect(visibleMarkdown(part.repeat(20_000 / part.length)).status).toBe('ok');
  });

  test('what no text of GitHub can be is refused', () => {
    expect(visibleMarkdown('x'.repeat(65_537))).toEqual({
      status: 'failed',
      why: 'is longer than 65536 characters',
    });
    expect(visibleMarkdown('a<!'.repeat(501))).toEqual({
      status: 'failed',
      why: 'has more than 500 of <! and <?',
    });
    for (const end of [']', '](a', '][a', '[]'])
      expect(visibleMarkdown(end.repeat(20_000 / end.length))).toEqual({
        status: 'failed',
        why: 'has too many ] in one paragraph',
      });
    expect(visibleMarkdown('- [ ] Do it.\n'.repeat(5_000)).status).toBe('ok');
  });
});
