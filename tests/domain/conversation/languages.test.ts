import { expect, test } from 'vitest';
import { languagesOf } from '../../../src/domain/conversation/orientation.ts';

test('languages are counted by the ends of names, the largest first, and the small ones left out', () => {
  const files = ['a.ts', 'b/c.tsx', 'x.py', 'go', 'a.go/README.md', '.ts/x', 'c.rs', 'd.h', 'e.rb', 'f.lua'];
  expect(languagesOf(files)).toEqual([
    { name: 'TypeScript', files: 2 },
    { name: 'C', files: 1 },
    { name: 'Lua', files: 1 },
    { name: 'Python', files: 1 },
    { name: 'Ruby', files: 1 },
  ]);
  expect(languagesOf([])).toEqual([]);
});
