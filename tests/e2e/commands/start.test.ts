/** What the built command loads before it does anything. */

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';

test('what every start loads is small: libraries that few runs need are loaded by those that do', () => {
  const loaded = staticImports('dist/cli.js');
  const bytes = [...loaded].reduce((sum, file) => sum + statSync(file).size, 0);
  // Each costs a third of a millisecond.
  expect(loaded.size).toBeLessThanOrEqual(2);
  const names = [...loaded].map((file) => readFileSync(file, 'utf8')).join('\n');
  const budget = JSON.parse(readFileSync('scripts/budget.json', 'utf8'));
  expect(bytes).toBeLessThanOrEqual(budget['bytes that each start loads']);
  expect(names).not.toMatch(
    /octokit-request|ExecaError|isAlias|diffArrays|sonic-boom|MessageStream|y18n|resourceSpans/,
  );
});

test('a run loads few files before it begins', () => {
  const runs = readdirSync('dist').filter(
    (name) => name.startsWith('start-') && readFileSync(join('dist', name), 'utf8').includes('startRun'),
  );
  const loaded = runs.map((name) => staticImports(join('dist', name)).size);
  expect(loaded).toEqual([expect.any(Number)]);
  expect(Math.max(...loaded)).toBeLessThan(20);
  // What a run writes is checked by the compiler; schemas of it are for those who read it, and take 20 ms to make.
  const own = runs.flatMap((name) => [...staticImports(join('dist', name)), ...staticImports('dist/cli.js')]);
  const having = own.filter((file) => SCHEMAS.test(readFileSync(file, 'utf8')));
  expect(having).toEqual([]);
  // Without an address for them, there is nothing that makes traces.
  expect(own.filter((file) => readFileSync(file, 'utf8').includes('resourceSpans'))).toEqual([]);
});

test('nothing follows the calls of a run that is alone: up to Node 22 every promise would be slower', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const folder = temporaryFolder();
  const [script, watch] = [join(folder, 'script.jsonl'), join(folder, 'watch.mjs')];
  writeFileSync(script, `${JSON.stringify({ text: 'Nothing to do.' })}\n`);
  writeFileSync(
    watch,
    `import { AsyncLocalStorage } from 'node:async_hooks';
AsyncLocalStorage.prototype.run = () => { throw new Error('calls are followed'); };`,
  );
  const words = ['run', '-m', 'Look', '--provider', 'replay', '--recording', script, '--sandbox', 'off'];
  const env = { HOME: folder, NODE_OPTIONS: `--import=${watch}` };
  const end = await runCli(words, { cwd: root, env, built: true });
  expect(end.exitCode, end.stderr).toBe(0);
});

test('every start makes few schemas: each takes a fiftieth of a millisecond', async () => {
  const folder = temporaryFolder();
  const watch = join(folder, 'watch.mjs');
  writeFileSync(
    watch,
    `let made = 0;
globalThis.__zod_globalConfig = { postProcessor: () => void (made += 1) };
process.on('exit', () => process.stderr.write(String(made)));`,
  );
  const env = { NODE_OPTIONS: `--import=${watch}` };
  const { stderr } = await runCli(['--version'], { cwd: folder, env, built: true });
  expect(Number(stderr)).toBeGreaterThan(100);
  expect(Number(stderr)).toBeLessThan(800);
});

/** What stands in those of events and results alone. */
const SCHEMAS = /journalVersion:\w*literal|and replaced at the end; when the process has died/;

/** The file and everything that it loads before it runs. */
function staticImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:from|import)"(\.\/[^"]+)"/g))
    staticImports(join(dirname(file), name ?? ''), found);
  return found;
}
