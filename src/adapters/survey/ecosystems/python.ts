/** Python: pip, uv, Poetry; pytest, unittest, tox. */

import { INSTALLERS } from '../../../domain/packages/installers.ts';
import {
  at,
  type Ecosystem,
  type Folder,
  found,
  guessed,
  keysAt,
  type Said,
  textAt,
  unlessMade,
} from '../project.ts';
import { cacheOf } from '../project-cache.ts';
import { plainRange, type WorkflowStep } from '../workflow-step.ts';

/** Common names of extras and package groups for tests; no other names are ever written. */
const TEST_GROUPS = ['test', 'tests', 'testing'];
/** These have more than tests need, and are used only if there is none of the others. */
const DEV_GROUPS = ['dev', 'develop', 'development'];
const REQUIREMENTS = [
  'requirements.txt',
  'requirements-test.txt',
  'requirements-tests.txt',
  'test-requirements.txt',
  'requirements-dev.txt',
  'dev-requirements.txt',
  'requirements_dev.txt',
  'requirements/tests.txt',
  'requirements/test.txt',
  'requirements/dev.txt',
];

type Manager = 'uv' | 'poetry' | 'pip';

/** The entry of the registry. */
export const python: Ecosystem = {
  extensions: ['.py', '.pyi'],
  versionCommand: 'python3 --version',
  manifests: ['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini', ...REQUIREMENTS],
  async look(folder) {
    const project = await folder.toml('pyproject.toml');
    const named = ['setup.cfg', 'tox.ini', 'setup.py', ...REQUIREMENTS];
    const texts = new Map<string, string>();
    for (const file of named) {
      const text = await folder.text(file);
      if (text !== null) texts.set(file, text);
    }
    const packages = packagesOf(project, texts);
    const manager = managerOf(project, folder);
    const name = manager.text as Manager;
    const lockfile = folder.first('uv.lock', 'poetry.lock', 'Pipfile.lock', 'pdm.lock');
    const within = { uv: 'uv run --no-sync ', poetry: 'poetry run ', pip: '.venv/bin/python -m ' }[name];
    const test = testOf(project, texts, packages, folder);
    const lint = lintOf(project, packages, folder);
    const setup = setupOf(name, { project, folder, texts, runner: test.runner });
    const making = name === 'pip' ? `{ ${setup.text}; }` : setup.text;
    return {
      ecosystem: 'Python',
      manager,
      lockfile,
      setup: [{ ...setup, text: unlessMade('.venv', making) }],
      test: test.said && { ...test.said, text: within + test.said.text },
      lint: lint && { ...lint, text: within + lint.text },
      build: null,
      domains: INSTALLERS[name].hosts,
      cache: cacheOf(folder, name, { filledBy: setup.text }),
      ...(await runnerOf(name, project, folder)),
      // The other managers write a .gitignore into it.
      makes: name === 'pip' ? '.venv' : null,
      decisions: decisionsOf(lockfile),
    };
  },
};

function managerOf(project: unknown, folder: Folder): Said {
  const lock = folder.first('uv.lock', 'poetry.lock');
  if (lock !== null) return found(lock === 'uv.lock' ? 'uv' : 'poetry', lock);
  if (at(project, 'tool', 'poetry') !== undefined) return found('poetry', 'pyproject.toml, tool.poetry');
  if (at(project, 'tool', 'uv') !== undefined) return found('uv', 'pyproject.toml, tool.uv');
  const file = folder.first('pyproject.toml', 'setup.py', 'setup.cfg', ...REQUIREMENTS);
  return file === null ? guessed('pip', 'no file names a package manager') : found('pip', file);
}

interface Test {
  readonly said: Said | null;
  /** What has to be installed in addition to what the project names. */
  readonly runner: string | null;
}

/**
 * The places that name packages, as text, without tool settings, which also name tools, and without what pip does not
 * install.
 */
function packagesOf(project: unknown, texts: ReadonlyMap<string, string>): string {
  const tables = [at(project, 'project'), at(project, 'dependency-groups'), at(project, 'tool', 'poetry')];
  const files = [...texts].flatMap(([name, text]) => (name === 'tox.ini' ? [] : [text]));
  return [JSON.stringify(tables), ...files]
    .join('\n')
    .replaceAll('[tool:pytest]', '')
    .replace(/^[ \t]*tests_require\s*=\s*(?:\[[^\]]{0,5000}\]|[^\n]*(?:\n[ \t][^\n]*)*)/gm, '');
}

/** What tox would run in its own environments, for which it downloads packages. */
const TOX_UNITTEST =
  /^commands\s*=\s*(?:\{envpython\}|\{envbindir\}\/python|python3?) -m (unittest(?: [\w./-]+)*)(?: \{posargs[^}\n]*\})?$/m;

function testOf(
  project: unknown,
  texts: ReadonlyMap<string, string>,
  packages: string,
  folder: Folder,
): Test {
  const tox = texts.get('tox.ini');
  const config =
    (at(project, 'tool', 'pytest') !== undefined && 'pyproject.toml, tool.pytest') ||
    folder.first('pytest.ini', 'conftest.py') ||
    (texts.get('setup.cfg')?.includes('[tool:pytest]') && 'setup.cfg') ||
    (/\bpytest\b/.test(tox ?? '') && 'tox.ini') ||
    folder.inWorkflows('pytest');
  const isNamed = /\bpytest\b/i.test(packages);
  const runner = isNamed ? null : 'pytest';
  if (config) return { said: found('pytest', config), runner };
  if (isNamed) return { said: guessed('pytest', 'it is among the packages'), runner };
  const [, unittest] = TOX_UNITTEST.exec(tox ?? '') ?? [];
  if (unittest !== undefined) return { said: found(unittest, 'tox.ini'), runner: null };
  if (tox !== undefined) return { said: found('tox', 'tox.ini'), runner: 'tox' };
  const tests = folder.first('tests', 'test');
  if (tests === null) return { said: null, runner: null };
  const workflow = folder.inWorkflows('unittest');
  const command = `unittest discover -s ${tests} -t .`;
  return {
    said: workflow
      ? found(command, workflow)
      : guessed(command, `there is a folder ${tests}, and nothing names pytest`),
    runner: null,
  };
}

function lintOf(project: unknown, packages: string, folder: Folder): Said | null {
  const inProject = at(project, 'tool', 'ruff') !== undefined ? 'pyproject.toml, tool.ruff' : null;
  const file = inProject ?? folder.first('ruff.toml', '.ruff.toml');
  const isInstalled = /\bruff\b/.test(packages);
  if (file !== null && isInstalled) return found('ruff check .', file);
  if (file !== null) return guessed('ruff check .', `${file} has its rules, but nothing installs it`);
  if (folder.names.has('.flake8')) return guessed('flake8', '.flake8 has its rules');
  return null;
}

interface Parts {
  readonly project: unknown;
  readonly folder: Folder;
  readonly texts: ReadonlyMap<string, string>;
  readonly runner: string | null;
}

function setupOf(manager: Manager, parts: Parts): Said {
  const { project, folder } = parts;
  if (manager === 'uv') {
    const { extras, groups } = groupsOf(project, parts.texts);
    // The group dev is installed in any case.
    const options = [
      ...extras.map((one) => ` --extra ${one}`),
      ...groups.filter((one) => one !== 'dev').map((one) => ` --group ${one}`),
    ].join('');
    const locked = folder.names.has('uv.lock') ? ' --locked' : '';
    return found(`uv sync${locked}${options}`, locked ? 'uv.lock' : 'pyproject.toml');
  }
  if (manager === 'poetry') {
    const extras = groupsOf(project, parts.texts).extras.length > 0;
    const command = `${INSTALLERS.poetry.locked}${extras ? ' --all-extras' : ''}`;
    return found(command, folder.first('poetry.lock') ?? 'pyproject.toml');
  }
  return pipSetup(parts);
}

interface Groups {
  readonly extras: readonly string[];
  readonly groups: readonly string[];
}

/** The extras and groups for tests, from whichever file declares the package. */
function groupsOf(project: unknown, texts: ReadonlyMap<string, string>): Groups {
  const [, config = ''] = (texts.get('setup.cfg') ?? '').split('[options.extras_require]');
  const [, script = ''] = (texts.get('setup.py') ?? '').split('extras_require');
  const declared = new Set([
    ...keysAt(project, 'project', 'optional-dependencies'),
    ...config.split('\n[', 1).flatMap((text) => [...text.matchAll(/^(\w+)\s*=/gm)].map(([, name]) => name)),
    ...[...script.matchAll(/["'](\w+)["']\s*:/g)].map(([, name]) => name),
  ]);
  const declaredGroups = new Set(keysAt(project, 'dependency-groups'));
  const chosen = [TEST_GROUPS, DEV_GROUPS]
    .map((names) => ({
      extras: names.filter((one) => declared.has(one)),
      groups: names.filter((one) => declaredGroups.has(one)),
    }))
    .find(({ extras, groups }) => extras.length + groups.length > 0);
  return chosen ?? { extras: [], groups: [] };
}

function pipSetup({ project, folder, texts, runner }: Parts): Said {
  const { extras, groups } = groupsOf(project, texts);
  const files = REQUIREMENTS.filter((name) => texts.has(name));
  const isPackage =
    at(project, 'build-system') !== undefined ||
    folder.names.has('setup.py') ||
    at(project, 'project') !== undefined;
  const what = [
    ...(isPackage ? [extras.length > 0 ? `-e '.[${extras.join(',')}]'` : '-e .'] : []),
    ...groups.map((one) => `--group ${one}`),
    ...files.map((name) => `-r ${name}`),
    ...(runner === null ? [] : [runner]),
  ];
  // A newer pip than the one of the interpreter knows groups.
  const pip = groups.length > 0 ? '.venv/bin/pip install --upgrade pip && .venv/bin/pip' : '.venv/bin/pip';
  const command = `python3 -m venv .venv && ${pip} install ${what.join(' ')}`;
  const isFound = runner === null && (extras.length > 0 || groups.length > 0 || files.length > 0);
  const from = [
    ...(isPackage ? [folder.first('pyproject.toml', 'setup.py') ?? 'setup.cfg'] : []),
    ...files,
  ].join(', ');
  if (isFound) return found(command, from);
  return guessed(command, 'no extra, group or file of requirements names the packages of the tests');
}

async function runnerOf(
  manager: Manager,
  project: unknown,
  folder: Folder,
): Promise<{ steps: WorkflowStep[]; guesses: string[] }> {
  const [own = null] = (await folder.text('.python-version'))?.trim().split('\n') ?? [];
  const version = plainRange(
    own ??
      textAt(project, 'project', 'requires-python') ??
      textAt(project, 'tool', 'poetry', 'dependencies', 'python'),
  );
  const steps: WorkflowStep[] = [
    {
      name: 'Install Python',
      uses: 'actions/setup-python',
      with: { 'python-version': version ?? '3.x' },
    },
  ];
  const guesses = version === null ? ['Python 3.x, since no file names a version'] : [];
  if (manager !== 'pip') steps.push({ name: `Install ${manager}`, run: `python -m pip install ${manager}` });
  return { steps, guesses };
}

function decisionsOf(lockfile: string | null): string[] {
  if (lockfile !== 'Pipfile.lock' && lockfile !== 'pdm.lock') return [];
  return [`${lockfile} is not used: setup installs with pip. Write the command of your package manager.`];
}
