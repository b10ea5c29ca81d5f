import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { namedIn } from '../../../src/engine/mcp/reach-server.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';

/** A work tree with a server in it, and one beside it. */
function places() {
  const folder = tempFolder({ 'tree/server.mjs': '', 'tree/package/index.js': '', 'beside/server.mjs': '' });
  mkdirSync(join(folder, 'tree/data'));
  const link = join(folder, 'link');
  symlinkSync('tree', link);
  return { link, root: join(folder, 'tree'), beside: join(folder, 'beside/server.mjs') };
}

type Line = readonly [command: string, ...args: string[]];
const found = (line: Line, env: Record<string, string> = {}) => {
  const { root, beside, link } = places();
  const [command = '', ...args] = line.map((word) =>
    word.replace('ROOT', root).replace('BESIDE', beside).replace('LINK', link),
  );
  const filled = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.replace('ROOT', root)]),
  );
  return (
    namedIn(root, { command, args, env: filled }, [])?.replace(root, 'ROOT').replace(link, 'LINK') ?? null
  );
};

describe('code of the work tree is', () => {
  test.each<[Line, string]>([
    [['./server.mjs'], './server.mjs'],
    [['bin/missing'], 'bin/missing'],
    [['node', 'ROOT/server.mjs'], 'ROOT/server.mjs'],
    [['node', 'server.mjs'], 'server.mjs'],
    [['node', 'BESIDE', '--plugin', 'ROOT/server.mjs'], 'ROOT/server.mjs'],
    [['node', '--import=ROOT/server.mjs', 'BESIDE'], '--import=ROOT/server.mjs'],
    [['node', 'ROOT/package'], 'ROOT/package'],
    [['make', '-C', 'ROOT/package', 'serve'], 'ROOT/package'],
    [['make', '-CROOT/package', 'serve'], '-CROOT/package'],
    [['npm', '--prefix', 'ROOT', 'start'], 'ROOT'],
    [['uv', 'run', '--directory=ROOT/package', 'server'], '--directory=ROOT/package'],
    [['sh', '-c', 'exec node "ROOT/server.mjs" --quiet'], 'exec node "ROOT/server.mjs" --quiet'],
    [['sh', '-c', 'cd ROOT && npm start'], 'cd ROOT && npm start'],
    [['node', '-e', "require('ROOT/package/index.js')"], "require('ROOT/package/index.js')"],
    [['node', '--import=file://ROOT/server.mjs', 'BESIDE'], '--import=file://ROOT/server.mjs'],
    [['node', 'LINK/server.mjs'], 'LINK/server.mjs'],
  ])('in %j', (line, word) => {
    expect(found(line)).toBe(word);
  });

  test.each(['NODE_OPTIONS', 'PYTHONPATH', 'PATH', 'LD_PRELOAD'])('behind the variable %s', (name) => {
    expect(found(['server'], { [name]: '/usr/lib:ROOT/lib' })).toBe(name);
    expect(found(['server'], { [name]: '--import=ROOT/server.mjs' })).toBe(name);
    expect(found(['server'], { [name]: '/usr/lib' })).toBe(null);
  });
});

test.each<[string, ...string[]]>([
  ['server', 'ROOT'],
  ['uvx', 'mcp-server-git', '--repository', 'ROOT'],
  ['node', 'BESIDE', '--cache=ROOT/new'],
  ['server', 'LINK/data'],
])('so is a folder that a server may only work on: %j', (command, ...args) => {
  expect(found([command, ...args])).toBe(args.at(-1));
  expect(found(['server'], { ROOT_OF_IT: 'ROOT' })).toBe('ROOT_OF_IT');
});

test('names elsewhere do not count', () => {
  expect(found(['/usr/bin/node', 'BESIDE', 'package', 'ROOT2'], { LEVEL: 'data', OTHER: 'ROOTED/a' })).toBe(
    null,
  );
});
