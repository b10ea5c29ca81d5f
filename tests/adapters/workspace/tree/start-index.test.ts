import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StartIndex } from '../../../../src/adapters/workspace/tree/start-index.ts';
import { encodeName } from '../../../../src/files/names.ts';

/** As `git ls-files -s -v -z` lists the paths: in the order of their bytes, all with the same blob. */
function indexOf(paths: readonly string[]): StartIndex {
  const lines = paths.map((path) => ({
    name: encodeName(path),
    line: encodeName(`H 100644 ${BLOB} 0\t${path}\0`),
  }));
  lines.sort((a, b) => Buffer.compare(a.name, b.name));
  return new StartIndex(Buffer.concat(lines.map(({ line }) => line)), 'index');
}

const BLOB = 'a'.repeat(40);

const name = fc.string({
  unit: fc.constantFrom('a', 'b', '-', '\t', '\n', ' ', '0', '\udcff', 'é', '\u{1f680}'),
  minLength: 1,
  maxLength: 3,
});
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));

test('every path is found, and everything below a folder', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(path, { maxLength: 30 }),
      fc.array(path, { maxLength: 10 }),
      (paths, others) => {
        const index = indexOf(paths);
        for (const one of [...paths, ...others]) {
          const below = paths.filter((other) => other.startsWith(`${one}/`)).sort();
          expect(index.get(one)).toEqual(paths.includes(one) ? { mode: '100644', blob: BLOB } : null);
          expect(index.has(one)).toBe(paths.includes(one));
          expect([...index.below(one)].sort()).toEqual(below);
          expect(index.hasBelow(one)).toBe(below.length > 0);
        }
      },
    ),
  );
});

test('many paths are looked up in an index of many, in the time of few', () => {
  const paths = Array.from({ length: 50_000 }, (_, nth) => `folder-${nth % 500}/some/file-${nth}.ts`);
  const index = indexOf(paths);
  const begun = process.cpuUsage();
  for (const one of paths) expect(index.has(`${one}x`) || !index.has(one)).toBe(false);
  expect(process.cpuUsage(begun).user / 1e6).toBeLessThan(5);
});

test('an index that holds a path twice is refused', () => {
  const entry = (path: string, stage = 0) => `H 100644 ${BLOB} ${stage}\t${path}\0`;
  const read = (...entries: string[]) => new StartIndex(Buffer.from(entries.join('')), 'index');
  expect(read(entry('a'), entry('b', 1), entry('b', 2), entry('b-')).has('b-')).toBe(true);
  expect(() => read(entry('a'), entry('a'))).toThrow('holds a path twice');
});
