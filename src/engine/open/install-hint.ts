/** What to type where a project's dependencies are not installed, by the names of the files in its root. */

import { readdirSync } from 'node:fs';

/** How one package manager is recognised, and what it installs. */
interface Installer {
  /** The file that makes it this one. */
  readonly file: string;
  readonly line: string;
  /** Hosts that it loads from. */
  readonly hosts: readonly string[];
  /** What is there once it has run. */
  readonly makes: string;
  /** Words of commands that need it. */
  readonly serves: RegExp;
}

const NODE =
  /\b(?:npm|npx|pnpm|yarn|bun|node|tsc|tsx|eslint|prettier|biome|vitest|jest|mocha|ava|tap|c8|nyc)\b/;
const PYTHON = /\b(?:python[\d.]*|pytest|pip|uv|poetry|tox|nox|ruff|mypy|flake8|black)\b/;
const NPM = { makes: 'node_modules', hosts: ['registry.npmjs.org'], serves: NODE };
const PIP = { makes: '.venv', hosts: ['pypi.org', 'files.pythonhosted.org'], serves: PYTHON };

/** The first whose file is there counts. */
const INSTALLERS: readonly Installer[] = [
  { ...NPM, file: 'pnpm-lock.yaml', line: 'pnpm install --frozen-lockfile' },
  { ...NPM, file: 'yarn.lock', line: 'yarn install --frozen-lockfile', hosts: ['registry.yarnpkg.com'] },
  { ...NPM, file: 'bun.lock', line: 'bun install --frozen-lockfile' },
  { ...NPM, file: 'package-lock.json', line: 'npm ci' },
  { ...NPM, file: 'package.json', line: 'npm install' },
  { ...PIP, file: 'uv.lock', line: 'uv sync' },
  {
    ...PIP,
    file: 'requirements.txt',
    line: 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt',
  },
  { ...PIP, file: 'pyproject.toml', line: 'python3 -m venv .venv && .venv/bin/pip install -e .' },
];

/**
 * One or two sentences with a leading space for a command that lacks something; empty where the files do not tell, or where all
 * is installed. Only names are looked at.
 */
export function installHint(root: string | null, command: string): string {
  if (root === null) return '';
  const names = readdirSync(root);
  const installer = INSTALLERS.find(({ file, serves }) => serves.test(command) && names.includes(file));
  if (installer === undefined || names.includes(installer.makes)) return '';
  const { line, hosts, makes } = installer;
  const domains = hosts.map((host) => `--allow-domain ${host}`).join(' ');
  const use = makes === '.venv' ? ' Name the programs in it, as in .venv/bin/python -m pytest.' : '';
  return ` There is no ${makes}. Install by hand: ${line} – or in every run: --setup ${JSON.stringify(line)} ${domains}.${use}`;
}
