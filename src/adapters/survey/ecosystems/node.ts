/** JavaScript and TypeScript: npm, pnpm, Yarn, Bun. */

import { INSTALLERS } from '../../../domain/packages/installers.ts';
import {
  at,
  type Ecosystem,
  type Folder,
  found,
  guessed,
  keysAt,
  type ProjectCache,
  type Said,
  textAt,
  unlessMade,
} from '../project.ts';
import { cacheOf } from '../project-cache.ts';
import { plainRange, plainVersion, type WorkflowStep } from '../workflow-step.ts';

type Manager = 'npm' | 'pnpm' | 'yarn' | 'bun';

const LOCKFILES: readonly (readonly [file: string, manager: Manager])[] = [
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

/** What `npm init` writes. */
const NO_TEST = /no test specified/;

/** The entry of the registry. */
export const node: Ecosystem = {
  extensions: ['.js', '.ts', '.mjs', '.cjs', '.jsx', '.tsx', '.vue', '.svelte'],
  versionCommand: 'node --version',
  manifests: ['package.json'],
  async look(folder) {
    const manifest = await folder.json('package.json');
    const lockfile = folder.first(...LOCKFILES.map(([file]) => file));
    const manager = managerOf(manifest, lockfile);
    const name = manager.text as Manager;
    const berry = name === 'yarn' ? await berryOf(manifest, folder) : null;
    const script = (...names: readonly string[]): Said | null => {
      const one = names.find((each) => textAt(manifest, 'scripts', each) !== null);
      if (one === undefined) return null;
      const run = one === 'test' && name !== 'bun' ? `${name} test` : `${name} run ${one}`;
      return found(run, `package.json, scripts.${one}`);
    };
    const written = textAt(manifest, 'scripts', 'test') ?? '';
    const lint = script('lint', 'lint:check');
    const fixes = lint !== null && /--(?:fix|write)\b/.test(textAt(manifest, 'scripts', 'lint') ?? '');
    const decisions: string[] = [];
    if (manifest === null) decisions.push('package.json is not valid JSON: repair it.');
    if (/--watch(?!=false|All=false)/.test(written))
      decisions.push('The script test watches for changes and never ends: name one that ends in verify.');
    if (fixes)
      decisions.push('The script lint changes files, so it is not in verify: name one that only checks.');
    if (at(manifest, 'workspaces') !== undefined || folder.names.has('pnpm-workspace.yaml'))
      decisions.push(
        'This is a workspace: if running all tests is slow, verify only the packages that the plan touches.',
      );
    return {
      ecosystem: 'Node.js',
      manager,
      lockfile,
      setup: hasPackages(manifest) ? [setupOf(name, lockfile, berry)] : [],
      test: NO_TEST.test(written) ? null : script('test'),
      lint: fixes && lint ? guessed(lint.text, 'it changes files') : lint,
      build: script('build'),
      domains: domainsOf(name, manifest),
      cache: hasPackages(manifest) ? cacheIn(name, berry, folder) : null,
      ...(await runnerOf(name, { manifest, isBerry: berry !== null }, folder)),
      makes: hasPackages(manifest) ? (berry?.keeps ?? 'node_modules') : null,
      decisions,
    };
  },
};

function managerOf(manifest: unknown, lockfile: string | null): Said {
  const [, asked] = /^(npm|pnpm|yarn|bun)@/.exec(textAt(manifest, 'packageManager') ?? '') ?? [];
  if (asked !== undefined) return found(asked, 'package.json, packageManager');
  const locked = LOCKFILES.find(([file]) => file === lockfile);
  if (locked !== undefined) return found(locked[1], locked[0]);
  return guessed('npm', 'there is no lockfile and no packageManager');
}

function hasPackages(manifest: unknown): boolean {
  const fields = ['dependencies', 'devDependencies', 'optionalDependencies', 'workspaces'];
  return fields.some((field) => keysAt(manifest, field).length > 0);
}

/** Yarn 2 and later: what is there once it has run, and the folder that keeps packages. */
interface Berry {
  readonly made: string;
  readonly keeps: string;
}

/** Null for Yarn 1. */
async function berryOf(manifest: unknown, folder: Folder): Promise<Berry | null> {
  const settings = await folder.text('.yarnrc.yml');
  const isBerry =
    settings !== null ||
    /^yarn@[^01]/.test(textAt(manifest, 'packageManager') ?? '') ||
    /^__metadata:/m.test((await folder.text('yarn.lock')) ?? '');
  if (!isBerry) return null;
  const isLinked = /^nodeLinker:\s*["']?(?:node-modules|pnpm)/m.test(settings ?? '');
  // With Plug'n'Play there is no node_modules, and what it has instead may be in the repository.
  return isLinked
    ? { made: '-d node_modules', keeps: 'node_modules' }
    : { made: '-e .yarn/install-state.gz', keeps: '.yarn/cache' };
}

function setupOf(manager: Manager, lockfile: string | null, berry: Berry | null): Said {
  const { locked, unlocked, makes } = INSTALLERS[berry === null ? manager : 'berry'];
  // The others leave no folder when they fail.
  const unless = (command: string) =>
    manager === 'pnpm' ? unlessMade(makes, command) : `test ${berry?.made ?? `-d ${makes}`} || ${command}`;
  return lockfile === null
    ? guessed(unless(unlocked), 'there is no lockfile')
    : found(unless(locked), lockfile);
}

/** Packages of a workspace of pnpm have folders of their own, and what Yarn makes today depends on its settings. */
function cacheIn(manager: Manager, berry: Berry | null, folder: Folder): ProjectCache | null {
  if (berry !== null) return cacheOf(folder, manager, { filledBy: 'yarn install --immutable', steps: null });
  const isSpread = manager === 'pnpm' && folder.names.has('pnpm-workspace.yaml');
  return cacheOf(folder, manager, isSpread ? { steps: null } : {});
}

function domainsOf(manager: Manager, manifest: unknown): readonly string[] {
  return hasPackages(manifest) ? INSTALLERS[manager].hosts : [];
}

async function runnerOf(
  manager: Manager,
  { manifest, isBerry }: { manifest: unknown; isBerry: boolean },
  folder: Folder,
): Promise<{ steps: WorkflowStep[]; guesses: string[] }> {
  const file = folder.first('.nvmrc', '.node-version');
  const version = plainRange(file === null ? textAt(manifest, 'engines', 'node') : await folder.text(file));
  const steps: WorkflowStep[] = [
    {
      name: 'Install Node.js',
      uses: 'actions/setup-node',
      with: { 'node-version': version ?? 'lts/*', 'package-manager-cache': 'false' },
    },
  ];
  const guesses = version === null ? ['Node.js lts/*, since neither .nvmrc nor engines names a version'] : [];
  if (manager === 'npm') return { steps, guesses };
  const [, asked = null] = /^\w+@([^+]+)/.exec(textAt(manifest, 'packageManager') ?? '') ?? [];
  const exact = plainVersion(asked);
  const packageName = isBerry ? '@yarnpkg/cli-dist' : manager;
  const run = `npm install --global ${packageName}@${exact ?? 'latest'}`;
  if (exact === null)
    guesses.push(`the latest ${manager}, since packageManager in package.json names no version`);
  return { steps: [...steps, { name: `Install ${manager}`, run }], guesses };
}
