import { describe, expect, test } from 'vitest';
import { pathPolicy } from '../../../src/adapters/inputs/path-policy.ts';

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

test('a name with newlines is matched like any other', () => {
  const odd = ['docs/x/\ny', 'do\ncs/a.md', 'docs\n/a'];
  expect(odd.filter(pathPolicy({ allow: [], protect: ['docs', '*.md'] }))).toEqual(['docs\n/a']);
});

test('what several rules say holds together', () => {
  const permits = pathPolicy({ allow: ['docs'], protect: [] }, { allow: ['*.md'], protect: ['b.md'] });
  expect(PATHS.filter(permits)).toEqual(['docs/a.md']);
});

test('without globs every path may change, and protect wins over allow', () => {
  expect(PATHS.filter(pathPolicy({ allow: [], protect: [] }))).toEqual(PATHS);
  expect(PATHS.filter(pathPolicy({ allow: ['docs'], protect: ['*.md'] }))).toEqual(['docs']);
});
