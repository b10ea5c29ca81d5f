import { expect, test } from 'vitest';
import { numberedPatch } from '../../../src/domain/findings/numbered-patch.ts';

const head = (path: string) =>
  `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n`;
const grown = (path: string, lines: number) =>
  `${head(path)}@@ -0,0 +1,${lines} @@\n${Array.from({ length: lines }, (_, at) => `+line ${at}\n`).join('')}`;

test('new and kept lines have their numbers, and what looks like a head inside a hunk is a line of it', () => {
  const patch = `${head('a')}@@ -9,3 +9,3 @@ f()\n kept\n-old\n+@@ -1 +1 @@\n+++ b/x\n kept\n\\ No newline at end of file\n`;
  expect(numberedPatch(patch, 10_000)).toEqual({
    leftOut: 0,
    text: `${head('a')}@@ -9,3 +9,3 @@ f()\n     9  kept\n       -old\n    10 +@@ -1 +1 @@\n    11 +++ b/x\n    12  kept\n       \\ No newline at end of file\n`,
  });
});

test('binary contents are left out, and the next file is not', () => {
  const binary =
    'diff --git a/b b/b\nindex 1..2 100644\nGIT binary patch\nliteral 4\nLcmZ\n\nliteral 0\nHcmV\n\n';
  expect(numberedPatch(`${binary}${head('c')}@@ -1 +1 @@\n-x\n+y\n`, 10_000).text).toBe(
    `diff --git a/b b/b\nindex 1..2 100644\n(binary)\n${head('c')}@@ -1 +1 @@\n       -x\n     1 +y\n`,
  );
});

test('long files are cut at a line and say so; short ones are whole, and leave what they do not need', () => {
  const { text, leftOut } = numberedPatch(
    grown('long', 1_000) + grown('short', 2) + grown('longer', 2_000),
    4_000,
  );
  expect(text).toContain(numberedPatch(grown('short', 2), 1_000).text);
  const sizes = text.split(/^(?=diff )/m).map(({ length }) => length);
  expect(sizes[0]).toBeGreaterThan(1_700);
  expect(Math.abs((sizes[0] ?? 0) - (sizes[2] ?? 0))).toBeLessThan(100);
  expect(text.match(/^\[… [\d,]+ characters of this file left out …\]$/gm)).toHaveLength(2);
  expect(leftOut).toBeGreaterThan(40_000);
  expect(text.length).toBeLessThan(4_200);
});
