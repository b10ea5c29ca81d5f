import { expect, test } from 'vitest';
import { neededParts } from '../../../src/engine/open/needed-parts.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';

test('a module is looked for in the Python that the command names, that of a virtual environment too', async () => {
  const commands = [
    'python3 -m pytest -q',
    '.venv/bin/python -m tox',
    'PYTHONPATH=x python -m unseen',
    'mypython -m no',
  ];
  expect(await neededParts(null, commands)).toEqual([
    { kind: 'module', command: 'python3 -m pytest -q', python: 'python3', name: 'pytest' },
    { kind: 'module', command: '.venv/bin/python -m tox', python: '.venv/bin/python', name: 'tox' },
  ]);
});

test('programs are those of a script of package.json, and of the scripts that it runs in turn', async () => {
  const scripts = {
    test: 'node --test && npm run types',
    types: 'tsd && npm run types -- --again',
    lint: 'npm ci && npm run types',
    quoted: 'sh -c "a && npm run types"',
    pretypes: 'rimraf out',
  };
  const root = tempFolder({ 'package.json': JSON.stringify({ scripts }) });
  const namesFor = async (command: string) =>
    (await neededParts(root, [command])).map((part) => [part.name, part.kind === 'program' && part.script]);
  expect(await namesFor('npm test')).toEqual([
    ['node', scripts.test],
    ['rimraf', 'rimraf out'],
    ['tsd', scripts.types],
    ['npm', scripts.test],
  ]);
  expect(await namesFor('npm run lint')).toEqual([['npm', scripts.lint]]);
  expect(await namesFor('npm run quoted')).toEqual([['sh', scripts.quoted]]);
});
