import { expect, test } from 'vitest';
import { neededParts } from '../../../src/engine/open/needed-parts.ts';

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
