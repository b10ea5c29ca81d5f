/** Text from outside is matched in linear time: a quadratic expression takes minutes for a few megabytes. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expressionsOf, whySuperLinear } from './support/text/expressions.ts';

const root = new URL('..', import.meta.url).pathname;

test('no expression of the sources is super-linear', () => {
  const files = ['src', 'page'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  const found = new Map<string, string>();
  const reasons = new Map<string, string | null>();
  for (const file of files) {
    for (const expression of expressionsOf(readFileSync(join(root, file), 'utf8'))) {
      const literal = `/${expression.source}/${expression.flags}`;
      const why = reasons.get(literal) ?? whySuperLinear(expression);
      reasons.set(literal, why);
      if (why !== null) found.set(`${file}:${expression.line} /${expression.source}/`, why);
    }
  }
  expect(Object.fromEntries(found)).toEqual({});
});

test.each([
  String.raw`/\s+$/`,
  String.raw`/^\s*mavenCentral\(\)/m`,
  String.raw`/"(?:[^"\\]|\\.)*"|[[\]{},]/gs`,
  String.raw`/\[remote rejected\] \((.*)\)$/m`,
  '/<!-- record: (.*?) -->/g',
  String.raw`/(\d{6}) [a-z]+ ([0-9a-f]+)\t([^\0]+)\0/g`,
  '/^(?:a+)+$/',
  String.raw`/^gitdir: (.*?)\n*$/s`,
])('%s would be found', (literal) => {
  const [expression] = expressionsOf(`const planted = ${literal};`);
  expect(expression && whySuperLinear(expression)).not.toBeNull();
});

test('an expression that matches in linear time is not found', () => {
  for (const literal of ['/^[ \\t]*mavenCentral\\(\\)/m', '/[^\\n]{0,500}$/', '/a{1,3}b/g'])
    expect(expressionsOf(`const fine = ${literal};`).map(whySuperLinear)).toEqual([null]);
});
