/** Python: pip, uv, Poetry; pytest, unittest. */

import { MANAGERS } from '../../domain/packages.ts';
import type { Folder } from './folder.ts';
import {
  at,
  cacheOf,
  type Ecosystem,
  keysAt,
  plainRange,
  type Said,
  textAt,
  unlessMade,
  type WorkflowInputs,
} from './project.ts';

/**
 * Common names of extras and package groups for tests; no other names are ever written. The second list has more than tests
 * need, and is used only if there is none of the first.
 */
const GROUPS = [
  ['test', 'tests', 'testing'],
  ['dev', 'develop', 'development'],
];
const REQUIREMENTS = [
  'requirements.txt',
  'requirements-test.txt',
  'test-requirements.txt',
  'requirements-dev.txt',
  'dev-requirements.txt',
];

type Manager = 'uv' | 'poetry' | 'pip';

/** What comes before the name of a tool. */
const WITHIN = { uv: 'uv run --no-sync ', poetry: 'poetry run ', pip: '.venv/bin/python -m ' };

/** The entry of the registry. */
export const python: Ecosystem = {
  name: 'Python',
  extensions: ['.py', '.pyi'],
  manifests: ['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini', ...REQUIREMENTS],
  async look(folder, file) {
    const project = await folder.toml('pyproject.toml');
    const requirements = REQUIREMENTS.filter((name) => folder.text(name) !== '');
    const manager = managerOf(folder, project, file);
    const name = manager.text as Manager;
    const said = (from: string | null, tool: string): Said | null =>
      from === null ? null : { text: `${WITHIN[name]}${tool}`, from };
    const usesPytest = pytestIn(folder, requirements);
    const tests = folder.first('tests', 'test');
    const install = installOf(name, { folder, project, requirements, usesPytest: usesPytest !== null });
    const making = name === 'pip' ? `{ ${install}; }` : install;
    const lockfile = folder.first('uv.lock', 'poetry.lock');
    return {
      manager,
      lockfile,
      setup: [{ text: unlessMade('.venv', making), from: lockfile ?? file }],
      test: said(usesPytest, 'pytest') ?? said(tests, `unittest discover -s ${tests} -t .`),
      lint: said(ruffIn(folder, project, requirements), 'ruff check .'),
      build: null,
      domains: MANAGERS[name].hosts,
      cache: name === 'uv' ? cacheOf(folder, name, install) : null,
      installs: installsOf(name, folder, project),
      // The other managers write a .gitignore into it.
      makes: name === 'pip' ? '.venv' : null,
      decisions: [],
    };
  },
};

function managerOf(folder: Folder, project: unknown, file: string): Said {
  const lock = folder.first('uv.lock', 'poetry.lock');
  if (lock !== null) return { text: lock === 'uv.lock' ? 'uv' : 'poetry', from: lock };
  const own = ['poetry', 'uv'].find((name) => at(project, 'tool', name) !== undefined);
  return own === undefined ? { text: 'pip', from: file } : { text: own, from: `pyproject.toml, tool.${own}` };
}

/** The file that names pytest; null for none. */
function pytestIn(folder: Folder, requirements: readonly string[]): string | null {
  const naming = ['pyproject.toml', 'setup.cfg', 'setup.py', 'tox.ini', ...requirements];
  return (
    folder.first('pytest.ini', 'conftest.py') ??
    naming.find((name) => /\bpytest\b/i.test(folder.text(name))) ??
    null
  );
}

/** The file with the rules of Ruff, if the project also installs it; else null. */
function ruffIn(folder: Folder, project: unknown, requirements: readonly string[]): string | null {
  const tables = [at(project, 'project'), at(project, 'dependency-groups'), at(project, 'tool', 'poetry')];
  const packages = [JSON.stringify(tables), ...requirements.map(folder.text)].join('\n');
  if (!/\bruff\b/.test(packages)) return null;
  return at(project, 'tool', 'ruff') === undefined
    ? folder.first('ruff.toml', '.ruff.toml')
    : 'pyproject.toml, tool.ruff';
}

interface Installed {
  readonly folder: Folder;
  readonly project: unknown;
  readonly requirements: readonly string[];
  readonly usesPytest: boolean;
}

function installOf(manager: Manager, { folder, project, requirements, usesPytest }: Installed): string {
  const declared = keysAt(project, 'project', 'optional-dependencies');
  const declaredGroups = keysAt(project, 'dependency-groups');
  const chosen = GROUPS.map((names) => ({
    extras: names.filter((one) => declared.includes(one)),
    groups: names.filter((one) => declaredGroups.includes(one)),
  }));
  const { extras, groups } = chosen.find((one) => one.extras.length + one.groups.length > 0) ?? {
    extras: [],
    groups: [],
  };
  if (manager === 'poetry') return `${MANAGERS.poetry.locked}${extras.length > 0 ? ' --all-extras' : ''}`;
  if (manager === 'uv')
    return [
      MANAGERS.uv[folder.names.has('uv.lock') ? 'locked' : 'unlocked'],
      ...extras.map((one) => `--extra ${one}`),
      // The group dev is installed in any case.
      ...groups.filter((one) => one !== 'dev').map((one) => `--group ${one}`),
    ].join(' ');
  const isPackage =
    folder.names.has('setup.py') ||
    keysAt(project, 'build-system').length + keysAt(project, 'project').length > 0;
  const what = [
    ...(isPackage ? [extras.length > 0 ? `-e '.[${extras.join(',')}]'` : '-e .'] : []),
    ...groups.map((one) => `--group ${one}`),
    ...requirements.map((name) => `-r ${name}`),
    ...(usesPytest ? ['pytest'] : []),
  ];
  // A newer pip than the one of the interpreter knows groups.
  const pip = groups.length > 0 ? '.venv/bin/pip install --upgrade pip && .venv/bin/pip' : '.venv/bin/pip';
  return `python3 -m venv .venv && ${pip} install ${what.join(' ')}`;
}

function installsOf(manager: Manager, folder: Folder, project: unknown): WorkflowInputs {
  const [own = ''] = folder.text('.python-version').trim().split('\n');
  const version = plainRange(
    own ||
      textAt(project, 'project', 'requires-python') ||
      textAt(project, 'tool', 'poetry', 'dependencies', 'python'),
  );
  const python = { 'python-version': version ?? '3.x' };
  return manager === 'pip' ? python : { ...python, install: `python -m pip install ${manager}` };
}
