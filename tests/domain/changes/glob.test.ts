import fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, test } from 'vitest';
import { globFrom, globMatcher, whyNoGlob } from '../../../src/domain/changes/glob.ts';
import { randomCases } from '../../support/setup/sample.ts';

const matches = (glob: string, path: string) => globMatcher(glob)(path);

describe('a glob names files as .gitignore does', () => {
  test.each([
    ['*.ts', 'a/b.ts', true],
    ['*.ts', 'a/b.tsx', false],
    ['/*.ts', 'b.ts', true],
    ['/*.ts', 'a/b.ts', false],
    ['./src/*', 'src/a', true],
    ['src', 'a/src/b/c', true],
    ['src/', 'src', false],
    ['src/', 'src/a', true],
    ['src/**', 'src/a/b', true],
    ['src/**', 'src', false],
    ['src/**/b', 'src/b', true],
    ['src/**/b', 'src/a/a/b', true],
    ['src/**/b', 'src/ab', false],
    ['**/test/*.js', 'a/test/b.js', true],
    ['a/b', 'a/b/c', true],
    ['a/b', 'a/bc', false],
    ['a/b', 'x/a/b', false],
    ['a/b/', 'a/b', false],
    ['**/a/b', 'x/a/b/c', true],
    ['**/a/b', 'a/b', true],
    ['**/a/b', 'xa/b', false],
    ['**/a/', 'b/a', false],
    ['**/a/', 'b/a/c', true],
    ['a**b', 'axb', true],
    ['a**b', 'a/b', false],
    ['?.md', 'ä.md', true],
    ['?.md', '😀.md', true],
    ['?', 'a/bc', true],
    ['*', '.hidden', true],
    ['*.[jt]s', 'a.ts', true],
    ['[!a-c]', 'b', false],
    ['[!a-c]', 'd', true],
    ['[]x]', ']', true],
    ['a[/]b', 'a/b', false],
    ['a[b', 'a[b', true],
    ['*.{ts,tsx}', 'a/b.tsx', true],
    ['{src,test}/**/*.ts', 'test/a/b.ts', true],
    ['{a,{b,c}/d}', 'c/d', true],
    ['{a}', '{a}', true],
    ['{a,', '{a,', true],
    ['app/(shop)/[[]id].tsx', 'app/(shop)/[id].tsx', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['/', 'a/b', true],
    ['./', 'a/b', true],
    ['.', 'a', true],
  ])('%s, %s: %j', (glob, path, expected) => {
    expect(matches(glob, path)).toBe(expected);
    const [below, beside] = ['[p]/a*', '[p]/b'].map((folder) =>
      matches(globFrom('[p]/a*', glob), `${folder}/${path}`),
    );
    expect([below, beside]).toEqual([expected, false]);
  });

  test('one of a folder leads up as far as the root', () => {
    expect(['../b/*', '../../c', '../../../d'].map((glob) => globFrom('x/y', glob))).toEqual([
      '/x/b/*',
      '/c',
      '/../d',
    ]);
  });

  test('stars, question marks and folders agree with another matcher', () => {
    const pieces = fc.constantFrom('a', 'b', '*', '?', '**', 'a*', '*b', 'a*b', '?b', '*a*');
    // At the end, `**` is to the other the folder itself as well.
    const ends = pieces.filter((piece) => piece !== '**');
    const globs = fc
      .tuple(fc.array(pieces, { minLength: 1, maxLength: 4 }), ends)
      .map(([parts, end]) => [...parts, end].join('/'));
    const names = fc.constantFrom('a', 'b', 'ab', 'ba', 'aab', 'bab', '.a');
    const paths = fc.array(names, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(globs, paths, (glob, path) => {
        const isMatch = picomatch(glob, { dot: true, nonegate: true });
        const above = [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
        expect(matches(glob, path)).toBe([...above, path].some((part) => isMatch(part)));
      }),
      { numRuns: randomCases(10_000) },
    );
  });
});

test.each([
  '*a*a*a*a*a*a*a*a*b',
  '**/**/**/**/**/**/**/b',
  '{*a,*a*a,a*}{*a,*a*a,a*}{*a,*a*a,a*}{*a,*a*a,a*}b',
])('no glob of a hostile model takes long on a hostile name: %s', (glob) => {
  expect(matches(glob, 'a'.repeat(250))).toBe(false);
  expect(matches(glob, 'a/'.repeat(2_000))).toBe(false);
});

describe('what does not mean what it says is not a glob', () => {
  test.each([
    ['', 'has to have 1 to 1000 characters'],
    ['a'.repeat(1_001), 'has to have 1 to 1000 characters'],
    ['../a', '".."'],
    ['a/./b', '"."'],
    ['+(a|aa)b', '"+("'],
    ['src/!(a).ts', '"!("'],
    ['[[:alpha:]]', '"[[:"'],
    ['{1..3}', '"{1..3}"'],
  ])('%s', (glob, why) => expect(whyNoGlob(glob)).toContain(why));

  test.each(['./src/**', 'app/(shop)/page.tsx', 'c++/*.[ch]', '{a,{b,c}}', 'a\\+(b)', '**/*.{test,spec}.*'])(
    '%s is one',
    (glob) => expect(whyNoGlob(glob)).toBe(null),
  );
});
