/** JavaScript and TypeScript: npm, pnpm, Yarn, Bun. */

import { MANAGERS, type ManagerName } from '../../domain/packages.ts';
import type { Folder } from './folder.ts';
import {
  cacheOf,
  type Ecosystem,
  group,
  keysAt,
  plainRange,
  plainVersion,
  type Said,
  setupBy,
  textAt,
  type WorkflowInputs,
} from './project.ts';

type Manager = Extract<ManagerName, 'npm' | 'pnpm' | 'yarn' | 'bun'>;

const LOCKFILES: Readonly<Record<string, Manager>> = {
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
};

/** The entry of the registry. */
export const node: Ecosystem = {
  name: 'Node.js',
  extensions: ['.js', '.ts', '.mjs', '.cjs', '.jsx', '.tsx', '.vue', '.svelte'],
  manifests: ['package.json'],
  async look(folder) {
    const manifest = folder.json('package.json');
    const lockfile = folder.first(...Object.keys(LOCKFILES));
    const manager = managerOf(manifest, lockfile);
    const name = manager.text as Manager;
    const berry = name === 'yarn' ? berryOf(manifest, folder) : null;
    const written = (script: string) => textAt(manifest, 'scripts', script);
    const script = (one: string): Said | null => {
      const run = one === 'test' && name !== 'bun' ? `${name} test` : `${name} run ${one}`;
      return written(one) === '' ? null : { text: run, from: `package.json, scripts.${one}` };
    };
    const test = written('test');
    const isInTests = /\blint\b/.test(['pretest', 'test', 'posttest'].map(written).join('\n'));
    const fields = ['dependencies', 'devDependencies', 'optionalDependencies', 'workspaces'];
    const hasPackages = fields.some((field) => keysAt(manifest, field).length > 0);
    return {
      manager,
      lockfile,
      setup: hasPackages ? [setupOf(name, lockfile, berry)] : [],
      // What `npm init` writes is none.
      test: /no test specified/.test(test) ? null : script('test'),
      // One that repairs changes files, and one that the tests run need not run twice.
      lint: isInTests || /--(?:fix|write)\b/.test(written('lint')) ? null : script('lint'),
      build: script('build'),
      domains: hasPackages ? MANAGERS[name].hosts : [],
      // What Yarn makes today depends on its settings.
      cache: hasPackages ? cacheOf(folder, name, berry ? 'yarn install --immutable' : undefined) : null,
      installs: installsOf(name, manifest, berry !== null, folder),
      makes: hasPackages ? (berry?.keeps ?? MANAGERS[name].makes) : null,
      decisions: [
        ...(manifest === null ? ['package.json is not valid JSON: repair it.'] : []),
        ...(/--watch(?!=false|All=false)/.test(test)
          ? ['The script test watches for changes and never ends: name one that ends in verify.']
          : []),
      ],
    };
  },
};

function managerOf(manifest: unknown, lockfile: string | null): Said {
  const asked = group(/^(npm|pnpm|yarn|bun)@/, textAt(manifest, 'packageManager'));
  if (asked !== '') return { text: asked, from: 'package.json, packageManager' };
  return { text: LOCKFILES[lockfile ?? ''] ?? 'npm', from: lockfile ?? 'package.json' };
}

/** Yarn 2 and later: what is there once it has run, and the folder that keeps packages. */
interface Berry {
  readonly made: string;
  readonly keeps: string;
}

/** Null for Yarn 1. */
function berryOf(manifest: unknown, folder: Folder): Berry | null {
  const isBerry =
    folder.names.has('.yarnrc.yml') ||
    /^yarn@[^01]/.test(textAt(manifest, 'packageManager')) ||
    /^__metadata:/m.test(folder.text('yarn.lock'));
  if (!isBerry) return null;
  // With Plug'n'Play there is no node_modules, and what it has instead may be in the repository.
  return /^nodeLinker:\s*["']?(?:node-modules|pnpm)/m.test(folder.text('.yarnrc.yml'))
    ? { made: '-d node_modules', keeps: 'node_modules' }
    : { made: '-e .yarn/install-state.gz', keeps: '.yarn/cache' };
}

function setupOf(manager: Manager, lockfile: string | null, berry: Berry | null): Said {
  const from = 'package.json';
  if (manager === 'pnpm') return setupBy(manager, lockfile, from);
  // The others leave no folder when they fail.
  const { locked, unlocked, makes } = MANAGERS[berry === null ? manager : 'berry'];
  const text = `test ${berry?.made ?? `-d ${makes}`} || ${lockfile === null ? unlocked : locked}`;
  return { text, from: lockfile ?? from };
}

function installsOf(manager: Manager, manifest: unknown, isBerry: boolean, folder: Folder): WorkflowInputs {
  const file = folder.first('.nvmrc', '.node-version');
  const version = plainRange(file === null ? textAt(manifest, 'engines', 'node') : folder.text(file));
  const node = { 'node-version': version ?? 'lts/*' };
  if (manager === 'npm') return node;
  const exact = plainVersion(group(/^\w+@([^+]+)/, textAt(manifest, 'packageManager')));
  const name = isBerry ? '@yarnpkg/cli-dist' : manager;
  return { ...node, install: `npm install --global ${name}@${exact ?? 'latest'}` };
}
