import { describe, expect, test } from 'vitest';
import { pipLoads } from '../../../../src/adapters/survey/needed/pip.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';

const MAKE = 'test -d .venv || { python3 -m venv .venv && .venv/bin/pip install';
const FILES = {
  'requirements.txt': '# What it uses.\n-c limits.txt\nattrs==23.1; python_version > "3"\n',
  'empty.txt': '# none\n\n-e .\n./local\n',
};
const NOTHING_NEEDED = '[build-system]\nrequires = []\n[project]\nname = "a"\n';

describe('a command that makes an environment and installs into it', () => {
  test.each([
    ['-r requirements.txt; }', {}],
    ["-e '.[test]'; }", {}],
    ['.; }', {}],
    ['.; }', { 'pyproject.toml': '[build-system]\nrequires = ["hatchling"]\n' }],
    ['.; }', { 'pyproject.toml': `${NOTHING_NEEDED}dependencies = ["attrs"]\n` }],
    ['--upgrade pip && .venv/bin/pip install --group dev; }', {}],
    ['-c limits.txt pytest; }', {}],
    ['--quiet "pytest>=8"; }', {}],
  ])('loads packages: %s', async (rest, files) => {
    const root = tempFolder({ ...FILES, ...files });
    expect(await pipLoads(root, '', `${MAKE} ${rest}`)).toBe(true);
  });

  test.each([
    ['--upgrade pip; }', {}],
    ['-r empty.txt; }', {}],
    ['-r nowhere.txt; }', {}],
    ['./one.whl ./folder; }', {}],
    ['.; }', { 'pyproject.toml': NOTHING_NEEDED }],
    ['--no-index --find-links wheels pytest; }', {}],
    ['--index-url http://registry.corp/simple pytest; }', {}],
    ['pytest; }', { '.venv/pyvenv.cfg': '' }],
  ])('may do without a network: %s', async (rest, files) => {
    const root = tempFolder({ ...FILES, ...files });
    expect(await pipLoads(root, '', `${MAKE} ${rest}`)).toBe(false);
  });

  test('is looked at in its folder', async () => {
    const root = tempFolder({ 'api/requirements.txt': 'attrs\n' });
    const command = `cd api && { ${MAKE} -r requirements.txt; }; }`;
    expect(await pipLoads(root, 'api', command)).toBe(true);
    expect(await pipLoads(root, '', command)).toBe(false);
  });
});
