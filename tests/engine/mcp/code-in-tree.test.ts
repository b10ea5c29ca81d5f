import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { codeInTree } from '../../../src/engine/mcp/reach-server.ts';
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
    codeInTree(root, { command, args, env: filled })?.replace(root, 'ROOT').replace(link, 'LINK') ?? null
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
    [['/usr/bin/node', '--inspect', 'ROOT/package'], 'ROOT/package'],
    [['node', '--require', 'ROOT/package', 'BESIDE'], 'ROOT/package'],
    [['python3.12', 'ROOT'], 'ROOT'],
    [['make', '-C', 'ROOT/package', 'serve'], '-C'],
    [['make', '-CROOT/package', 'serve'], '-CROOT/package'],
    [['npm', '--prefix', 'ROOT', 'start'], '--prefix'],
    [['uv', 'run', '--directory=ROOT/package', 'server'], '--directory=ROOT/package'],
    [['env', '-C', 'ROOT', './server'], '-C'],
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

test('a folder that a server works on does not count', () => {
  const lines: Line[] = [
    ['server', 'ROOT'],
    ['npx', '-y', '@modelcontextprotocol/server-filesystem', 'ROOT/data'],
    ['uvx', 'mcp-server-git', '--repository', 'ROOT'],
    ['python', '-m', 'mcp_server_git', '--repository', 'ROOT'],
    ['node', 'BESIDE', 'ROOT', '--cache=ROOT/data'],
  ];
  expect(lines.map((line) => found(line, { ROOT_OF_IT: 'ROOT' }))).toEqual(lines.map(() => null));
});
