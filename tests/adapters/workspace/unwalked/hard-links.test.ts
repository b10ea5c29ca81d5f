import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { copyLinkedOut } from '../../../../src/adapters/workspace/unwalked/hard-links.ts';
import { temporaryFolder } from '../../../support/files/repository.ts';
import { randomCases } from '../../../support/setup/sample.ts';

const place = fc.constantFrom(
  'a',
  'b/c',
  'b/d/e',
  'n/.pnpm/x/i.js',
  'n/y',
  '.git/hooks/h',
  'sub/.git/o',
  '.GIT/p',
);
const file = fc.record({
  inside: fc.uniqueArray(place, { minLength: 1, maxLength: 4 }),
  outside: fc.integer({ min: 0, max: 2 }),
  text: fc.constantFrom('', 'x\n', 'y'.repeat(70_000)),
  mode: fc.constantFrom(0o644, 0o755, 0o600, 0o444),
});

/** What a command must not change: what is outside, and in git dirs. */
const isProtected = (path: string) => path.startsWith('outside/') || /(^|\/)\.git\//.test(path);

function stateOf(path: string) {
  const { mode, mtimeMs } = lstatSync(path);
  return { text: readFileSync(path, 'latin1'), mode, mtime: Math.floor(mtimeMs) };
}

test('whatever is linked with whatever, edits in place change nothing outside, and nothing is lost inside', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 5 }), async (files) => {
      const top = temporaryFolder();
      const root = join(top, 'root');
      const taken = new Set<string>();
      const groups = files.map(({ inside, outside, text, mode }, index) => {
        const free = inside.filter((path) => !taken.has(path));
        for (const path of free) taken.add(path);
        const paths = [
          ...free.map((path) => `root/${path}`),
          ...Array.from({ length: outside }, (_, copy) => `outside/${index}.${copy}`),
        ];
        for (const path of paths) mkdirSync(dirname(join(top, path)), { recursive: true });
        const [first, ...rest] = paths.map((path) => join(top, path));
        if (first === undefined) return [];
        writeFileSync(first, text);
        chmodSync(first, mode);
        utimesSync(first, 1_500_000_000, 1_600_000_000.5 + index);
        for (const path of rest) linkSync(first, path);
        return paths;
      });
      const paths = groups.flat();
      const before = new Map(paths.map((path) => [path, stateOf(join(top, path))]));
      const inodes = new Map(paths.map((path) => [path, lstatSync(join(top, path)).ino]));
      await copyLinkedOut({ root, maxBytes: 1024 ** 3 });

      for (const path of paths) expect(stateOf(join(top, path))).toEqual(before.get(path));
      for (const group of groups.filter((one) => !one.some(isProtected)))
        for (const path of group) expect(lstatSync(join(top, path)).ino).toBe(inodes.get(path));
      expect(readdirSync(root, { recursive: true }).filter((name) => String(name).endsWith('.tmp'))).toEqual(
        [],
      );

      for (const path of paths.filter((one) => !isProtected(one))) {
        chmodSync(join(top, path), 0o777);
        appendFileSync(join(top, path), 'evil');
        utimesSync(join(top, path), 1, 1);
      }
      for (const path of paths.filter(isProtected))
        expect([path, stateOf(join(top, path))]).toEqual([path, before.get(path)]);
    }),
    { numRuns: randomCases(400) },
  );
});
