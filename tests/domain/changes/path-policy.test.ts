import { describe, expect, test } from 'vitest';
import { forbidsBelow, pathPolicy } from '../../../src/domain/changes/path-policy.ts';

const PATHS = [
  'docs',
  'docs/a.md',
  'lib/docs/b.md',
  '.github/workflows/ci.yml',
  'a.md',
  'src/a.ts',
  'src/docs.ts',
];

const matching = (glob: string) => PATHS.filter(pathPolicy({ allow: [glob], protect: [] }));

describe('a glob of a plan', () => {
  test.each([
    ['docs', ['docs', 'docs/a.md', 'lib/docs/b.md']],
    ['docs/', ['docs', 'docs/a.md', 'lib/docs/b.md']],
    ['/docs', ['docs', 'docs/a.md']],
    ['./docs/', ['docs', 'docs/a.md']],
    ['*.md', ['docs/a.md', 'lib/docs/b.md', 'a.md']],
    ['/*.md', ['a.md']],
    ['.github/workflows', ['.github/workflows/ci.yml']],
    ['**/*.yml', ['.github/workflows/ci.yml']],
    ['src/*.ts', ['src/a.ts', 'src/docs.ts']],
    ['src/{a,b}.ts', ['src/a.ts']],
    ['/', PATHS],
    ['**', PATHS],
    ['!docs', []],
  ])('%s', (glob, paths) => {
    expect(matching(glob)).toEqual(paths);
  });
});

describe('below the folder vendor/sub', () => {
  const forbids = (allow: string[], protect: string[]) => forbidsBelow({ allow, protect })('vendor/sub');

  test.each([
    ['*.lock'],
    ['vendor'],
    ['/vendor'],
    ['vendor/'],
    ['vendor/**'],
    ['./vendor/sub'],
    ['vendor/sub/a/b.txt'],
    ['vendor/*/x'],
    ['{src,vendor}/sub/x'],
    ['{src/a,vendor}/x'],
    ['ven\\dor/sub'],
    ['**/x'],
    ['[uv]endor/x'],
  ])('%s may protect something', (glob) => {
    expect(forbids([], [glob])).toBe(true);
  });

  test.each([['src/**'], ['/src'], ['vendor/other/**'], ['vendor/subs'], ['vendor/su/b']])(
    '%s protects nothing',
    (glob) => {
      expect(forbids([], [glob])).toBe(false);
    },
  );

  test.each([
    [['vendor/**'], false],
    [['vendor/sub'], false],
    [['sub'], false],
    [['**'], false],
    [['src/**', 'vendor'], false],
    [['vendor/sub/src/**'], true],
    [['src/**'], true],
    [['*.js'], true],
    [[], false],
  ])('%j allows everything, or not', (allow, forbidden) => {
    expect(forbids(allow, [])).toBe(forbidden);
  });

  test('the strictest of several rules counts', () => {
    const none = { allow: [], protect: [] };
    expect(forbidsBelow(none, { allow: ['src/**'], protect: [] })('vendor/sub')).toBe(true);
    expect(forbidsBelow(none, none)('vendor/sub')).toBe(false);
  });
});
