/** Which places of the machine a command may see as toolchains, and how much of each: decided from names, and from the token files in them. */

import { basename, dirname, join, relative } from 'node:path';
import { isWithin } from '../../../domain/changes/path.ts';
import { entriesOf, statOf } from '../host-files.ts';

/** What must not be shown, and what is visible anyway. All paths are absolute. */
export interface Boundaries {
  /** Home folders: only toolchains inside them are shown, never the folder itself. */
  readonly homes: readonly string[];
  /** The work tree, as given and as resolved. It is mounted separately, writable for commands. */
  readonly roots: readonly string[];
  /** The run directory and the real repository. */
  readonly offLimits: readonly string[];
}

/** Parts of a system that contain sockets, credentials and other people's data. */
const CLOSED = ['/boot', '/dev', '/etc', '/proc', '/run', '/sys', '/var'];

const CLOSED_IN_HOME = new Set([
  '.aws',
  '.azure',
  '.config',
  '.docker',
  '.git-credentials',
  '.gnupg',
  '.kube',
  '.netrc',
  '.npmrc',
  '.password-store',
  '.pypirc',
  '.ssh',
]);

/** Folders that contain programs, next to what those programs need. */
const BIN_NAMES = new Set(['bin', 'sbin', 'shims']);

/** Files that mark their folder as a self-contained environment or version manager, wherever it is. */
const MARKERS = ['conda-meta', 'pyvenv.cfg', 'shims'];

/** Folders next to `bin` in an installed toolchain. */
const COMPANIONS = ['include', 'jre', 'lib', 'lib64', 'libexec'];

/** Token files that package managers keep at the top of a prefix; each is hidden by an empty file. */
export const CREDENTIAL_FILES = [
  '.netrc',
  '.npmrc',
  '.pypirc',
  'credentials',
  'credentials.json',
  'credentials.toml',
  'etc/npmrc',
  'gradle.properties',
  'pip.conf',
  'settings-security.xml',
  'settings.xml',
];

/** Whether `path` may be mounted read-only. A path in the work tree may not: its target can change during the run. */
export function mayBeShown(path: string, { homes, roots, offLimits }: Boundaries): boolean {
  if (dirname(path) === '/') return false;
  if (roots.some((root) => isWithin(path, root))) return false;
  if (offLimits.some((place) => isWithin(place, path) || isWithin(path, place))) return false;
  if (homes.some((home) => isWithin(home, path))) return false;
  const home = homeOf(path, homes);
  if (home === undefined) return !CLOSED.some((place) => isWithin(path, place));
  return !CLOSED_IN_HOME.has(relative(home, path).split('/')[0] ?? '');
}

/**
 * The prefix around a folder of programs, if that prefix is a toolchain; null if only the folder itself may be shown, as
 * with `~/.cargo/bin` and `~/.local/bin`, whose neighbours contain credentials. `neighbours` are the names in the parent
 * folder.
 */
export function prefixAround(
  bin: string,
  neighbours: ReadonlySet<string>,
  boundaries: Boundaries,
): string | null {
  const prefix = dirname(bin);
  if (!BIN_NAMES.has(basename(bin)) || !mayBeShown(prefix, boundaries)) return null;
  if (MARKERS.some((name) => neighbours.has(name))) return prefix;
  const home = homeOf(prefix, boundaries.homes);
  if (home !== undefined && isCommonFolder(relative(home, prefix))) return null;
  // A checkout is someone's project with its own secrets, not a toolchain.
  if (neighbours.has('.git')) return null;
  return COMPANIONS.some((name) => neighbours.has(name)) ? prefix : null;
}

/** Where a link out of a folder of programs leads: another such folder, a tree of node packages, or one file. */
export function linkTarget(path: string): { kind: 'bin' | 'modules' | 'file'; path: string } {
  const [before, ...modules] = path.split('/node_modules/');
  if (before !== undefined && modules.length > 0)
    return { kind: 'modules', path: join(before, 'node_modules') };
  const folder = dirname(path);
  return BIN_NAMES.has(basename(folder)) ? { kind: 'bin', path: folder } : { kind: 'file', path };
}

/** Whether `path` is in, or is itself, one of the places in a home folder where programs keep keys and tokens. */
export function holdsCredentials(path: string, homes: readonly string[]): boolean {
  const home = homeOf(path, homes);
  return home !== undefined && CLOSED_IN_HOME.has(relative(home, path).split('/')[0] ?? '');
}

function homeOf(path: string, homes: readonly string[]): string | undefined {
  const named = homes.find((home) => isWithin(path, home));
  return named ?? /^(\/root|\/home\/[^/]+)(?=\/|$)/.exec(path)?.[0];
}

/** `~/x` and `~/.local/x` are shared by many programs, whatever they contain. */
function isCommonFolder(belowHome: string): boolean {
  const depth = belowHome.split('/').length;
  return depth === 1 || (depth === 2 && belowHome.startsWith('.local/'));
}

/** The token files that exist: at the top of these places, and of every version installed in one of them. */
export function credentialFilesIn(places: readonly string[]): string[] {
  const prefixes = new Set(places.flatMap((place) => [place, ...versionsIn(place)]));
  const paths = [...prefixes].flatMap((prefix) => CREDENTIAL_FILES.map((name) => join(prefix, name)));
  return paths.filter((path) => statOf(path)?.isFile());
}

/** Folders in which version managers keep versions, one folder each, often with a folder per tool above that. */
const STORES = ['envs', 'hostedtoolcache', 'installs', 'python', 'toolchains', 'versions'];

/** The deepest is `tool/version/architecture` of a hosted tool cache. */
const DEEPEST = 3;
/** Maximum number of folders examined in all; a machine has some dozens. */
const MOST = 1_000;

function versionsIn(place: string): string[] {
  const stores = STORES.includes(basename(place)) ? [place] : STORES.map((name) => join(place, name));
  let level = stores.filter((store) => statOf(store)?.isDirectory());
  const found: string[] = [];
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    // A folder with programs is a version, and contains no other.
    const open = level.filter((folder) => statOf(join(folder, 'bin')) === null);
    level = open.flatMap(foldersIn).slice(0, MOST - found.length);
    found.push(...level);
  }
  return found;
}

function foldersIn(folder: string): string[] {
  const entries = entriesOf(folder) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}
