import { expect, test } from 'vitest';
import { StartIndex } from '../../../../src/adapters/workspace/tree/start-index.ts';

const BLOB = 'a'.repeat(40);

const entry = (path: string, stage = 0) => `H 100644 ${BLOB} ${stage}\t${path}\0`;
const read = (...entries: string[]) => new StartIndex(Buffer.from(entries.join('')), 'index');

test('paths are found, and what is below a folder', () => {
  const index = read(entry('a'), entry('b/c\td/e'), entry('b/f'), entry('b-'), entry('g', 1), entry('g', 2));
  expect(index.get('b/f')).toEqual({ mode: '100644', blob: BLOB });
  expect([index.get('g'), index.has('g'), index.has('b')]).toEqual([null, true, false]);
  expect([...index.below('b')]).toEqual(['b/c\td/e', 'b/f']);
  expect(['b', 'b/c\td', 'a', 'b-'].map((folder) => index.hasBelow(folder))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('an index that holds a path twice is refused', () => {
  expect(() => read(entry('a'), entry('a'))).toThrow('holds a path twice');
});
