/** Python: pip, uv, Poetry; pytest, unittest, tox. */

import { MANAGERS } from '../../domain/packages/managers.ts';
import {
  at,
  cacheOf,
  type Ecosystem,
  type Folder,
  found,
  group,
  guessed,
  keysAt,
  linter,
  type Said,
  textAt,
  unlessMade,
} from './project.ts';
import { plainRange, setup, type WorkflowStep } from './workflow-step.ts';

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

/** What the files say. */
interface Python {
  readonly folder: Folder;
  /** `pyproject.toml`. */
  readonly project: unknown;
  /** Files of `REQUIREMENTS` that are there. */
  readonly requirements: readonly string[];
  /** The places that name packages, as text. */
  readonly packages: string;
}

/** The entry of the registry. */
export const python: Ecosystem = {
  name: 'Python',
  extensions: ['.py', '.pyi'],
  versionCommand: 'python3 --version',
  manifests: ['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini', ...REQUIREMENTS],
  async look(folder, file) {
    const project = await folder.toml('pyproject.toml');
    const requirements = REQUIREMENTS.filter((name) => folder.text(name) !== '');
    const parts = { folder, project, requirements, packages: packagesOf(folder, project, requirements) };
    const manager = managerOf(parts, file);
    const name = manager.text as Manager;
    const within = { uv: 'uv run --no-sync ', poetry: 'poetry run ', pip: '.venv/bin/python -m ' }[name];
    const { said: test, runner } = testOf(parts);
    const lint = linter(
      'ruff check .',
      at(project, 'tool', 'ruff') === undefined
        ? folder.first('ruff.toml', '.ruff.toml')
        : 'pyproject.toml, tool.ruff',
      /\bruff\b/.test(parts.packages),
    );
    const install = setupOf(name, parts, runner);
    const making = name === 'pip' ? `{ ${install.text}; }` : install.text;
    return {
      manager,
      lockfile: folder.first('uv.lock', 'poetry.lock'),
      setup: [{ ...install, text: unlessMade('.venv', making) }],
      test: test && { ...test, text: within + test.text },
      lint: lint && { ...lint, text: within + lint.text },
      domains: MANAGERS[name].hosts,
      cache: name === 'poetry' ? null : cacheOf(folder, name, { filledBy: install.text }),
      steps: stepsOf(name, parts),
      // The other managers write a .gitignore into it.
      makes: name === 'pip' ? '.venv' : null,
    };
  },
};

/** Without tool settings, which also name tools, and without what pip does not install. */
function packagesOf({ text }: Folder, project: unknown, requirements: readonly string[]): string {
  const tables = [at(project, 'project'), at(project, 'dependency-groups'), at(project, 'tool', 'poetry')];
  return [JSON.stringify(tables), ...['setup.cfg', 'setup.py', ...requirements].map(text)]
    .join('\n')
    .replaceAll('[tool:pytest]', '')
    .replace(/^[ \t]*tests_require\s*=\s*(?:\[[^\]]{0,5000}\]|[^\n]*(?:\n[ \t][^\n]*)*)/gm, '');
}

function managerOf({ folder, project }: Python, file: string): Said {
  const lock = folder.first('uv.lock', 'poetry.lock');
  if (lock !== null) return found(lock === 'uv.lock' ? 'uv' : 'poetry', lock);
  const own = (['poetry', 'uv'] as const).find((name) => at(project, 'tool', name) !== undefined);
  if (own !== undefined) return found(own, `pyproject.toml, tool.${own}`);
  const unused = folder.first('Pipfile.lock', 'pdm.lock');
  return unused === null ? found('pip', file) : guessed('pip', `${unused} is not used`);
}

/** What tox would run in its own environments, for which it downloads packages. */
const TOX_UNITTEST =
  /^commands\s*=\s*(?:\{envpython\}|\{envbindir\}\/python|python3?) -m (unittest(?: [\w./-]+)*)(?: \{posargs[^}\n]*\})?$/m;

/** `runner` has to be installed in addition to what the project names. */
function testOf({ folder, project, packages }: Python): { said: Said | null; runner: string | null } {
  const tox = folder.text('tox.ini');
  const config =
    (at(project, 'tool', 'pytest') !== undefined && 'pyproject.toml, tool.pytest') ||
    folder.first('pytest.ini', 'conftest.py') ||
    (folder.text('setup.cfg').includes('[tool:pytest]') && 'setup.cfg') ||
    (/\bpytest\b/.test(tox) && 'tox.ini') ||
    folder.inWorkflows('pytest');
  const isNamed = /\bpytest\b/i.test(packages);
  const runner = isNamed ? null : 'pytest';
  if (config) return { said: found('pytest', config), runner };
  if (isNamed) return { said: guessed('pytest', 'it is among the packages'), runner };
  const unittest = group(TOX_UNITTEST, tox);
  if (unittest !== '') return { said: found(unittest, 'tox.ini'), runner: null };
  if (tox !== '') return { said: found('tox', 'tox.ini'), runner: 'tox' };
  const tests = folder.first('tests', 'test');
  const command = `unittest discover -s ${tests} -t .`;
  const why = `there is a folder ${tests}, and nothing names pytest`;
  return { said: tests === null ? null : guessed(command, why), runner: null };
}

function setupOf(manager: Manager, parts: Python, runner: string | null): Said {
  const { folder } = parts;
  const { extras, groups } = groupsOf(parts);
  if (manager === 'uv') {
    const locked = folder.names.has('uv.lock');
    const options = [
      MANAGERS.uv[locked ? 'locked' : 'unlocked'],
      ...extras.map((one) => `--extra ${one}`),
      // The group dev is installed in any case.
      ...groups.filter((one) => one !== 'dev').map((one) => `--group ${one}`),
    ];
    return found(options.join(' '), locked ? 'uv.lock' : 'pyproject.toml');
  }
  if (manager === 'poetry') {
    const all = extras.length > 0 ? ' --all-extras' : '';
    return found(`${MANAGERS.poetry.locked}${all}`, folder.first('poetry.lock') ?? 'pyproject.toml');
  }
  return pipSetup(parts, runner);
}

interface Groups {
  readonly extras: readonly string[];
  readonly groups: readonly string[];
}

/** The extras and groups for tests, from whichever file declares the package. */
function groupsOf({ folder, project }: Python): Groups {
  const [, config = ''] = folder.text('setup.cfg').split('[options.extras_require]');
  const [, script = ''] = folder.text('setup.py').split('extras_require');
  const [section = ''] = config.split('\n[', 1);
  const declared = new Set([
    ...keysAt(project, 'project', 'optional-dependencies'),
    ...[...section.matchAll(/^(\w+)\s*=/gm)].map(([, name]) => name),
    ...[...script.matchAll(/["'](\w+)["']\s*:/g)].map(([, name]) => name),
  ]);
  const declaredGroups = keysAt(project, 'dependency-groups');
  const chosen = GROUPS.map((names) => ({
    extras: names.filter((one) => declared.has(one)),
    groups: names.filter((one) => declaredGroups.includes(one)),
  }));
  return chosen.find(({ extras, groups }) => extras.length + groups.length > 0) ?? { extras: [], groups: [] };
}

function pipSetup(parts: Python, runner: string | null): Said {
  const { folder, project, requirements } = parts;
  const { extras, groups } = groupsOf(parts);
  const isPackage =
    at(project, 'build-system') !== undefined ||
    folder.names.has('setup.py') ||
    at(project, 'project') !== undefined;
  const what = [
    ...(isPackage ? [extras.length > 0 ? `-e '.[${extras.join(',')}]'` : '-e .'] : []),
    ...groups.map((one) => `--group ${one}`),
    ...requirements.map((name) => `-r ${name}`),
    ...(runner === null ? [] : [runner]),
  ];
  // A newer pip than the one of the interpreter knows groups.
  const pip = groups.length > 0 ? '.venv/bin/pip install --upgrade pip && .venv/bin/pip' : '.venv/bin/pip';
  const command = `python3 -m venv .venv && ${pip} install ${what.join(' ')}`;
  if (runner !== null || extras.length + groups.length + requirements.length === 0)
    return guessed(command, 'no extra, group or file of requirements names the packages of the tests');
  const own = isPackage ? [folder.first('pyproject.toml', 'setup.py') ?? 'setup.cfg'] : [];
  return found(command, [...own, ...requirements].join(', '));
}

function stepsOf(manager: Manager, { folder, project }: Python): WorkflowStep[] {
  const [own = ''] = folder.text('.python-version').trim().split('\n');
  const version = plainRange(
    own ||
      textAt(project, 'project', 'requires-python') ||
      textAt(project, 'tool', 'poetry', 'dependencies', 'python'),
  );
  const step = setup('Python', 'actions/setup-python', { 'python-version': version ?? '3.x' });
  if (manager === 'pip') return [step];
  return [step, { name: `Install ${manager}`, run: `python -m pip install ${manager}` }];
}
