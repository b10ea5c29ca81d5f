/** Finds the toolchains on the host's PATH, so that a project's own tests run where nothing else is visible. */

import { dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import { isWithin } from '../../../domain/changes/path.ts';
import type { Environment } from '../../../domain/environment.ts';
import {
  entriesOf,
  leadsInto,
  linkOf,
  type ResolvedPath,
  readLink,
  realPathOf,
  resolvePath,
  statOfTarget,
} from '../host-files.ts';
import { type Boundaries, linkTarget, mayBeShown, prefixAround } from './toolchain-policy.ts';
import { withoutSlash } from './user-mounts.ts';

/** What commands get: read-only mounts (`at` → the real place), and the matching search path and variables. */
export interface Toolchains {
  readonly mounts: readonly { readonly source: string; readonly at: string }[];
  readonly path: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** Where to look for toolchains. */
export interface ToolchainHost {
  readonly env: Environment;
  /** The program that runs patchsmith: its prefix contains npm. */
  readonly execPath: string;
  readonly boundaries: Boundaries;
}

/** Visible in every sandbox. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc/alternatives'];

/** Folders that a toolchain finds through a variable; the folder is mounted and the variable passed on. */
const FOLDER_VARIABLES = ['GOROOT', 'JAVA_HOME', 'NVM_DIR', 'PYENV_ROOT'];

/**
 * Variables with a default folder below HOME. The programs on PATH are proxies, which would look below the commands' HOME.
 */
const HOME_VARIABLES = {
  ASDF_DATA_DIR: '.asdf',
  MISE_DATA_DIR: '.local/share/mise',
  RUSTUP_HOME: '.rustup',
  VOLTA_HOME: '.volta',
} as const;

/** They select one of the installed versions and contain nothing else. */
const VERSION_VARIABLES = ['PYENV_VERSION', 'RUSTUP_TOOLCHAIN'];

/** Where hosted runners keep every version of every toolchain. */
const TOOL_CACHE = '/opt/hostedtoolcache';

/**
 * Folders in the home folder that contain installed versions and nothing else. A virtual environment in the repository
 * points there, which alone would not be reason enough to show them.
 */
const STORES = [
  '.asdf/installs',
  '.local/share/mise/installs',
  '.local/share/uv/python',
  '.pyenv/versions',
  '.rbenv/versions',
];

const ALWAYS_IN_PATH = ['/usr/bin', '/bin'];

/** Finds the toolchains that commands may see: folders of PATH, version managers, and what their variables name. */
export function findToolchains(host: ToolchainHost): Toolchains {
  const scan = new Scan(host.boundaries);
  scan.showPlace(TOOL_CACHE);

  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(toolchainVariables(host.env))) {
    const isVersion = VERSION_VARIABLES.includes(name);
    if (isVersion || (isAbsolute(value) && scan.showPlace(normalize(value)))) variables[name] = value;
  }
  const path: string[] = [];
  for (const entry of searchPath(host.env)) if (scan.showBin(entry)) path.push(entry);
  scan.showBin(dirname(host.execPath));
  const { HOME } = host.env;
  if (HOME !== undefined && isAbsolute(HOME)) for (const store of STORES) scan.showPlace(join(HOME, store));
  return { mounts: scan.mounts(), path, variables };
}

/** The absolute folders on PATH in order, followed by the system's own. */
export function searchPath(env: ToolchainHost['env']): string[] {
  const named = (env.PATH ?? '')
    .split(':')
    .filter(isAbsolute)
    .map((path) => withoutSlash(normalize(path)));
  return [...new Set([...named, ...ALWAYS_IN_PATH])];
}

/** The folders of PATH without those that are in a work tree, or behind a link in it. */
export function outsidePath({ PATH = '' }: Environment, tree: string): string[] {
  return PATH.split(':').filter((place) => place.startsWith('/') && !leadsInto(tree, place));
}

/** The variables that locate toolchains, as far as they are set. */
export function toolchainVariables(env: ToolchainHost['env']): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of [...FOLDER_VARIABLES, ...VERSION_VARIABLES]) {
    const value = env[name];
    if (value !== undefined) found[name] = value;
  }
  for (const [name, usual] of Object.entries(HOME_VARIABLES)) {
    const folder = env[name] ?? (env.HOME === undefined ? undefined : join(env.HOME, usual));
    if (folder !== undefined && statOfTarget(folder)?.isDirectory()) found[name] = folder;
  }
  return found;
}

/** Collects mounts; the links in every place shown are followed to their targets. */
class Scan {
  readonly #boundaries: Boundaries;
  readonly #mounts = new Map<string, string>();
  readonly #bins = new Map<string, boolean>();
  /** Folders, by real path, whose links have been examined: /bin is often /usr/bin. */
  readonly #followed = new Set<string>();

  constructor(boundaries: Boundaries) {
    this.#boundaries = boundaries;
  }

  /** Parents before their contents, and nothing that a parent shows anyway: every mount costs time. */
  mounts(): { source: string; at: string }[] {
    const sorted = [...this.#mounts]
      .map(([at, source]) => ({ at, source }))
      .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    const kept: typeof sorted = [];
    for (const mount of sorted) {
      const around = kept.findLast(({ at }) => isWithin(mount.at, at));
      if (around === undefined || around.source + mount.at.slice(around.at.length) !== mount.source)
        kept.push(mount);
    }
    return kept;
  }

  /** Makes a folder of programs usable at this very path; false if it is missing or must stay hidden. */
  showBin(bin: string): boolean {
    const known = this.#bins.get(bin);
    if (known !== undefined) return known;
    this.#bins.set(bin, true);
    const found = resolvePath(bin);
    const shown = found !== null && this.#showBin(bin, found);
    this.#bins.set(bin, shown);
    return shown;
  }

  #showBin(bin: string, { real, links }: ResolvedPath): boolean {
    // The work tree's own folders are visible; their links are under the repository's control and must not expose anything
    // new.
    if ([bin, real, ...links].some((path) => this.#isInWorkTree(path))) return this.#isInWorkTree(bin);
    const prefix = prefixAround(real, namesIn(dirname(real)), this.#boundaries);
    if (!this.#show(real, prefix ?? real)) return false;
    if (bin !== real) {
      const named = dirname(bin);
      const wide = prefix !== null && mayBeShown(named, this.#boundaries) && realPathOf(named) === prefix;
      if (!this.#show(bin, wide ? named : bin, wide ? prefix : real)) return false;
    }
    if (!this.#followed.has(real)) {
      this.#followed.add(real);
      const isOfSystem = isSystem(real);
      for (const name of linksIn(real)) {
        const link = `${real}/${name}`;
        const to = readLink(link);
        // One that stays in a folder of the system leads to a program, or to a link that has its own turn: most are such.
        if (to !== null && !(isOfSystem && isName(to))) this.#followLink(link, to);
      }
    }
    return true;
  }

  /** Shows a whole file or folder at this very path. */
  showPlace(path: string): boolean {
    const found = resolvePath(path);
    if (found === null) return false;
    const { real, links } = found;
    if ([real, ...links].some((one) => this.#isInWorkTree(one))) return false;
    return this.#show(real, real) && (path === real || this.#show(path, path, real));
  }

  /** True if `path` ends up visible: it was before, or `at` above it now is. */
  #show(path: string, at: string, source: string = at): boolean {
    if ([...SYSTEM, ...this.#mounts.keys()].some((place) => isWithin(path, place))) return true;
    if (!mayBeShown(at, this.#boundaries)) return false;
    this.#mounts.set(at, source);
    return true;
  }

  #followLink(link: string, first: string): void {
    let from = link;
    let to: string | null = first;
    for (let hop = 0; hop < 8 && to !== null; hop++) {
      from = resolve(dirname(from), to);
      if (!isSystem(from)) {
        const target = linkTarget(from);
        if (target.kind === 'bin') this.showBin(target.path);
        else this.showPlace(target.path);
      }
      to = this.#isInWorkTree(from) ? null : linkOf(from);
    }
  }

  #isInWorkTree(path: string): boolean {
    return this.#boundaries.roots.some((root) => isWithin(path, root));
  }
}

function isSystem(path: string): boolean {
  return SYSTEM.some((place) => isWithin(path, place));
}

function isName(target: string): boolean {
  return !target.includes('/') && target !== '.' && target !== '..';
}

function linksIn(folder: string): string[] {
  const entries = entriesOf(folder) ?? [];
  return entries.filter((entry) => entry.isSymbolicLink()).map((entry) => entry.name);
}

function namesIn(folder: string): Set<string> {
  return new Set((entriesOf(folder) ?? []).map((entry) => entry.name));
}
