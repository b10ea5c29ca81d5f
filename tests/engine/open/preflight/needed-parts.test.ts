import { expect, test } from 'vitest';
import { neededParts } from '../../../../src/engine/open/preflight/needed-parts.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';

const NOWHERE = { root: null, canLoad: false };

test('a module is looked up in the Python that the command names, even one of a virtual environment', async () => {
  const commands = [
    'python3 -m pytest -q',
    'cd sub && CI=1 .venv/bin/python -m tox',
    'PYTHONPATH=x python -m unseen',
    'export PYTHONPATH=x; python -m unseen',
    './install && python -m unseen',
    'mypython -m no',
  ];
  const [, second = ''] = commands;
  expect(await neededParts(commands, NOWHERE)).toEqual([
    { kind: 'module', command: commands[0], folder: '.', python: 'python3', name: 'pytest' },
    { kind: 'module', command: second, folder: './sub', python: '.venv/bin/python', name: 'tox' },
  ]);
});

const SCRIPTS = {
  test: 'node --test && npm run types',
  types: 'tsd && npm run types -- --again',
  lint: 'npm ci && npm run types',
  quoted: 'sh -c "a && npm run types"',
  pretypes: 'rimraf out',
  unit: 'vitest run',
};

/** What is needed, a word each, for a command in a project in the folder `web`. */
function finder(manifest: Record<string, unknown>) {
  const root = tempFolder({ 'web/package.json': JSON.stringify(manifest) });
  return async (command: string, canLoad = false) => {
    const parts = await neededParts([`cd web && ${command}`], { root, canLoad });
    return parts.map((part) => `${part.kind} ${part.name}`);
  };
}

test('programs are those of a script of package.json, and of the scripts that it runs in turn', async () => {
  const root = tempFolder({ 'package.json': JSON.stringify({ scripts: SCRIPTS }) });
  const namesFor = async (command: string) =>
    (await neededParts([command], { root, canLoad: false })).map((part) => [
      part.name,
      part.kind === 'program' && part.script,
    ]);
  expect(await namesFor('npm test')).toEqual([
    ['node', SCRIPTS.test],
    ['rimraf', 'rimraf out'],
    ['tsd', SCRIPTS.types],
    ['npm', SCRIPTS.test],
  ]);
  expect(await namesFor('npm run lint')).toEqual([['npm', SCRIPTS.lint]]);
  expect(await namesFor('npm run quoted')).toEqual([['sh', SCRIPTS.quoted]]);
});

test.each([
  'npm run unit && npm test',
  'CI=1 npm run unit -- --coverage',
  'env CI=1 npm run unit',
  'cd . && npm run unit',
  'pnpm unit',
  'pnpm run unit --silent',
  'yarn unit',
  'yarn run unit',
  'bun run unit',
  'npx vitest run',
  'npx --no-install vitest',
  'yarn vitest',
  'pnpm exec vitest run',
  'npm exec vitest',
])('however the program is started, it is looked for: %s', async (command) => {
  const needed = finder({ scripts: SCRIPTS, devDependencies: { vitest: '4' } });
  expect(await needed(command)).toEqual(['program vitest']);
});

test('a script that package.json lacks is named, unless the word may mean something else', async () => {
  const needed = finder({ scripts: SCRIPTS });
  for (const [command, name] of [
    ['npm run nosuch', 'nosuch'],
    ['npm run nosuch -- --fix', 'nosuch'],
    ['pnpm run nosuch', 'nosuch'],
  ])
    expect(await needed(command ?? ''), command).toEqual([`script ${name}`]);
  expect(await finder({})('yarn test')).toEqual(['script test']);
  for (const command of [
    'npm run nosuch --if-present',
    'npm test -w other',
    'npm --prefix other test',
    'pnpm --filter other test',
    'yarn workspaces list',
    'yarn nosuch',
    'bun test',
    'npx cowsay@1 hello',
    'npx -p a b',
    'npm run "$NAME"',
    'make && npm run nosuch',
  ])
    expect(await needed(command), command).toEqual([]);
  expect(await needed('npx vitest', true)).toEqual([]);
});

test('what Node.js itself runs needs packages where package.json names some', async () => {
  const scripts = { test: 'node --test', setup: 'npm ci && node a.js', build: 'make' };
  const needed = finder({ scripts, dependencies: { 'left-pad': '1' } });
  expect(await needed('npm test')).toEqual(['program node', 'packages left-pad']);
  expect(await needed('node --test')).toEqual(['packages left-pad']);
  expect(await needed('npm run setup')).toEqual(['program npm']);
  expect(await needed('npm run build')).toEqual(['program make']);
  expect(await finder({ scripts, devDependencies: { tsd: '1' } })('npm test')).toEqual(['program node']);
});
