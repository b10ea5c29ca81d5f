/** Opens the caches of package managers that commands may use: their mounts and variables. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { getuid } from 'node:process';
import { isWithin } from '../../../domain/changes/path.ts';
import type { Environment } from '../../../domain/environment.ts';
import type { PackageManager } from '../../../domain/packages.ts';
import { sentence } from '../../../domain/text/words.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import { realPathOf, statOf } from '../host-files.ts';
import type { Bind, Mount } from '../mount.ts';
import type { ShownPlace, WantedCaches } from '../options.ts';
import { CREDENTIAL_FILES } from '../visible/toolchain-policy.ts';
import { type MountRules, type UserMount, whyNotShown, withoutSlash } from '../visible/user-mounts.ts';
import { makeLayer } from './layer.ts';
import { CACHE_PRESETS, type CachePart } from './presets.ts';

/** What caches are opened with. */
export interface CacheSurroundings {
  readonly wanted: WantedCaches;
  /** Commands have no network, so package managers are told not to try. */
  readonly isOffline: boolean;
  readonly hostEnv: Environment;
  readonly rules: MountRules;
  /** Given by `--mount`. */
  readonly added: readonly UserMount[];
  /** A private folder for the layers. */
  readonly folder: string;
  /** The home folder inside. */
  readonly home: string;
  /** Below it, commands see the caches themselves, read-only, unless they have paths of their own. */
  readonly shownAt: string;
}

/** What caches add to a sandbox, in mount order. */
export interface OpenCaches {
  readonly mounts: readonly Mount[];
  readonly variables: Readonly<Record<string, string>>;
  /** The places of the machine among the mounts. */
  readonly shown: readonly ShownPlace[];
  /** Sentences for people. */
  readonly warnings: readonly Warning[];
  /** Removes the layers. */
  close(): Promise<void>;
}

/** `reason` is a sentence that names the cache and what to do. */
type CachesResult = { status: 'ok'; caches: OpenCaches } | { status: 'refused'; reason: string };

/** Makes the layers. A cache that is missing is refused if it was asked for by name, and warned of otherwise. */
export async function openCaches(given: CacheSurroundings): Promise<CachesResult> {
  const { folder, wanted } = given;
  const { named, found } = wanted;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, EMPTY), '', { mode: 0o644 });
  const close = () => rm(folder, { recursive: true, force: true }).catch(() => undefined);
  const caches = { mounts: [], variables: {}, shown: [], warnings: [] as Warning[], close };
  for (const manager of new Set([...named, ...found])) {
    const problem = await addCache(manager, given, caches);
    if (problem?.isMissing && !named.includes(manager))
      caches.warnings.push(warning('WARN_CACHE_MISSING', problem.reason));
    else if (problem !== null) return { status: 'refused', reason: problem.reason };
  }
  return { status: 'ok', caches };
}

/** An empty file that covers those with credentials. */
const EMPTY = 'empty';

/** Adds the mounts and variables of one cache; returns why it cannot be used, or null. */
async function addCache(
  manager: PackageManager,
  given: CacheSurroundings,
  to: { mounts: Mount[]; variables: Record<string, string>; shown: ShownPlace[] },
): Promise<{ isMissing: boolean; reason: string } | null> {
  const { isOffline: offline, hostEnv, home, folder } = given;
  const preset = CACHE_PRESETS[manager];
  const places: (string | null)[] = [];
  for (const [index, part] of preset.parts.entries()) {
    const named = folderOf(part, hostEnv);
    const source = named && realPathOf(named);
    if (!named || !source || !statOf(source)?.isDirectory()) {
      places.push(null);
      continue;
    }
    // A layer would cover it below the home folder inside.
    const isAtItsPath = part.hasOwnPaths && !isWithin(source, home);
    const shownAt = isAtItsPath ? source : join(given.shownAt, `${manager}-${index}`);
    const layer = join(folder, `${manager}-${index}`);
    const reason =
      whyNotMounted([named, source], given) ?? (await makeLayer({ part, source, named, shownAt, layer }));
    if (reason !== null)
      return { isMissing: false, reason: sentence(`--cache ${manager}: ${named}: ${reason}`) };
    const covered = CREDENTIAL_FILES.filter((file) => statOf(join(source, file))?.isFile());
    const readOnly = (from: string, at: string): Bind => ({ kind: 'read-only', source: from, at });
    to.mounts.push(
      { ...readOnly(named, shownAt), namedBy: `--cache ${manager}` },
      ...covered.map((file) => readOnly(join(folder, EMPTY), join(shownAt, file))),
      { kind: 'read-write', source: layer, at: join(home, part.usual) },
    );
    to.shown.push({ path: source, writable: false });
    places.push(shownAt);
  }
  if (places.every((place) => place === null))
    return { isMissing: true, reason: whyMissing(manager, hostEnv) };
  for (const [path, text] of Object.entries(preset.files?.({ offline }) ?? {})) {
    const source = join(folder, `${manager}-files`, path);
    mkdirSync(dirname(source), { recursive: true, mode: 0o700 });
    writeFileSync(source, text, { mode: 0o644 });
    to.mounts.push({ kind: 'read-only', source, at: join(home, path) });
  }
  Object.assign(to.variables, preset.variables?.({ offline, home, places }));
  return null;
}

/** Null for a folder that may be shown; `paths` are its names. */
function whyNotMounted(paths: readonly string[], { rules, added }: CacheSurroundings): string | null {
  for (const path of paths) {
    const why = whyNotShown(path, rules);
    if (why !== null) return why;
    const mount = added.find(({ at }) => isWithin(path, at) || isWithin(at, path));
    if (mount !== undefined) return `--mount ${mount.at} shows it too; give one of them`;
  }
  return null;
}

/** Where a part is on this machine, whether or not it exists; null if nothing says so. */
function folderOf({ variable, usual, ofRoot }: CachePart, env: Environment): string | null {
  const [name = '', below = ''] = variable ?? [];
  const value = env[name];
  if (value && isAbsolute(value)) return withoutSlash(join(value, below));
  if (ofRoot !== undefined && getuid?.() === 0) return ofRoot;
  return env.HOME && isAbsolute(env.HOME) ? join(normalize(env.HOME), usual) : null;
}

function whyMissing(manager: PackageManager, env: Environment): string {
  const { parts, filledBy } = CACHE_PRESETS[manager];
  const places = parts.flatMap((part) => folderOf(part, env) ?? []);
  const looked = places.length === 0 ? 'HOME is not set' : `there is no ${places.join(' and no ')}`;
  const variables = [...new Set(parts.flatMap(({ variable }) => variable?.[0] ?? []))];
  const where = variables.length === 0 ? '' : `, or say where it is with ${variables.join(' or ')}`;
  return `--cache ${manager}: ${looked}. Fill it with "${filledBy}" on this machine${where}.`;
}
