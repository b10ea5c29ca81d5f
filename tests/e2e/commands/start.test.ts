/** What the built command loads before it does anything. */

import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

test('what every start loads is small: libraries that few runs need are loaded by those that do', () => {
  const loaded = staticImports('dist/cli.js');
  const bytes = [...loaded].reduce((sum, file) => sum + statSync(file).size, 0);
  // Node opens them side by side: more would not do where few files may be open.
  expect(loaded.size).toBeLessThan(75);
  const names = [...loaded].map((file) => readFileSync(file, 'utf8')).join('\n');
  expect(bytes).toBeLessThan(400_000);
  expect(names).not.toMatch(
    /Bottleneck|octokit-core|ExecaError|isAlias|diffArrays|sonic-boom|MessageStream|y18n/,
  );
});

/** The file and everything that it loads before it runs. */
function staticImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:from|import)"(\.\/[^"]+)"/g))
    staticImports(join(dirname(file), name ?? ''), found);
  return found;
}
