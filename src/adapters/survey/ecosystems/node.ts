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
import { plainVersion, type WorkflowStep } from '../workflow-step.ts';

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
        'This is a workspace: where the tests of all packages take long, verify those that a plan is about.',
      );
    return {
      ecosystem: 'Node.js',
      manager,
      lockfile,
      setup: hasPackages(manifest) ? [setupOf(name, lockfile, folder)] : [],
      test: NO_TEST.test(written) ? null : script('test'),
      lint: fixes && lint ? guessed(lint.text, 'it changes files') : lint,
      build: script('build'),
      domains: domainsOf(name, manifest),
      cache: hasPackages(manifest) ? cacheIn(name, manifest, folder) : null,
      ...runnerOf(name, manifest, folder),
      makes: hasPackages(manifest) ? 'node_modules' : null,
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

function setupOf(manager: Manager, lockfile: string | null, { names }: Folder): Said {
  // Caches in the home folder are gone after each command, and Yarn's packages can stay in its cache.
  const berry = 'YARN_ENABLE_GLOBAL_CACHE=false yarn install --immutable';
  const { locked, unlocked, makes } = INSTALLERS[manager];
  // The others leave no folder when they fail.
  const unless = (command: string) =>
    manager === 'pnpm' ? unlessMade(makes, command) : `test -d ${makes} || ${command}`;
  if (lockfile === null) return guessed(unless(unlocked), 'there is no lockfile');
  const isBerry = manager === 'yarn' && names.has('.yarnrc.yml');
  return found(unless(isBerry ? berry : locked), lockfile);
}

/** Packages of a workspace of pnpm have folders of their own, and what Yarn makes today depends on its settings. */
function cacheIn(manager: Manager, manifest: unknown, folder: Folder): ProjectCache | null {
  const isBerry =
    folder.names.has('.yarnrc.yml') || /^yarn@[^01]/.test(textAt(manifest, 'packageManager') ?? '');
  if (manager === 'yarn' && isBerry)
    return cacheOf(folder, manager, { filledBy: 'yarn install --immutable', steps: null });
  const isSpread = manager === 'pnpm' && folder.names.has('pnpm-workspace.yaml');
  return cacheOf(folder, manager, isSpread ? { steps: null } : {});
}

function domainsOf(manager: Manager, manifest: unknown): readonly string[] {
  return hasPackages(manifest) ? INSTALLERS[manager].hosts : [];
}

function runnerOf(
  manager: Manager,
  manifest: unknown,
  { prefix, first }: Folder,
): { steps: WorkflowStep[]; guesses: string[] } {
  const file =
    first('.nvmrc', '.node-version') ?? (textAt(manifest, 'engines', 'node') ? 'package.json' : null);
  const version: Record<string, string> =
    file === null ? { 'node-version': 'lts/*' } : { 'node-version-file': prefix + file };
  const steps: WorkflowStep[] = [
    {
      name: 'Install Node.js',
      uses: 'actions/setup-node',
      with: { ...version, 'package-manager-cache': 'false' },
    },
  ];
  const guesses = file === null ? ['Node.js lts/*, since neither .nvmrc nor engines names a version'] : [];
  if (manager === 'npm') return { steps, guesses };
  const [, asked = null] = /^\w+@([^+]+)/.exec(textAt(manifest, 'packageManager') ?? '') ?? [];
  const exact = plainVersion(asked);
  const isBerry = manager === 'yarn' && !(exact ?? '1').startsWith('1.') && exact !== null;
  const packageName = isBerry ? '@yarnpkg/cli-dist' : manager;
  const run = `npm install --global ${packageName}@${exact ?? 'latest'}`;
  if (exact === null)
    guesses.push(`the latest ${manager}, since packageManager in package.json names no version`);
  return { steps: [...steps, { name: `Install ${manager}`, run }], guesses };
}
