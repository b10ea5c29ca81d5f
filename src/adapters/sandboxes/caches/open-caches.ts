/** Opens the caches of package managers that commands may use: their mounts and variables. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { getuid } from 'node:process';
import { isWithin } from '../../../domain/changes/path.ts';
import type { Environment } from '../../../domain/environment.ts';
import type { PackageManager } from '../../../domain/packages/package-manager.ts';
import { withoutTail } from '../../../domain/text/shorten.ts';
import { sentence } from '../../../domain/text/words.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { Mount } from '../bubblewrap/args.ts';
import { realPathOf, statOf } from '../host-files.ts';
import type { ShownPlace, WantedCaches } from '../options.ts';
import { CREDENTIAL_FILES } from '../visible/toolchain-policy.ts';
import { type MountRules, type UserMount, whyNotShown } from '../visible/user-mounts.ts';
import { MAX_COPIED_BYTES, MAX_ENTRIES, makeLayer } from './layer.ts';
import { nameWheels } from './pip-wheels.ts';
import { CACHE_PRESETS, type CachePart, type CachePreset } from './presets.ts';

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
export type CachesResult = { status: 'ok'; caches: OpenCaches } | { status: 'refused'; reason: string };

/** Makes the layers. A cache that is missing is refused if it was asked for by name, and warned of otherwise. */
export async function openCaches(given: CacheSurroundings): Promise<CachesResult> {
  const { named, found } = given.wanted;
  const caches: OpenCache[] = [];
  for (const manager of [...named, ...found.filter((one) => !named.includes(one))]) {
    const opened = await openCache(manager, given);
    if (opened.status === 'ok') caches.push(opened.caches);
    else if (opened.status === 'refused' || named.includes(manager))
      return { status: 'refused', reason: opened.reason };
    else
      caches.push({
        mounts: [],
        variables: {},
        shown: [],
        warnings: [warning('WARN_CACHE_MISSING', opened.reason)],
      });
  }
  const all = {
    mounts: caches.flatMap(({ mounts }) => mounts),
    variables: Object.assign({}, ...caches.map(({ variables }) => variables)),
    shown: caches.flatMap(({ shown }) => shown),
    warnings: caches.flatMap(({ warnings }) => warnings),
    close: () => rm(given.folder, { recursive: true, force: true }).catch(() => undefined),
  };
  return { status: 'ok', caches: all };
}

type OpenCache = Omit<OpenCaches, 'close'>;

type CacheResult = { status: 'ok'; caches: OpenCache } | { status: 'refused' | 'missing'; reason: string };

async function openCache(manager: PackageManager, given: CacheSurroundings): Promise<CacheResult> {
  const { isOffline, hostEnv, home } = given;
  const preset = CACHE_PRESETS[manager];
  const parts = preset.parts.map((part) => ({ part, named: folderOf(part, hostEnv) }));
  const mounts: Mount[] = [];
  const shown: ShownPlace[] = [];
  const places: (string | null)[] = [];
  for (const [index, { part, named }] of parts.entries()) {
    const source = named === null ? null : realPathOf(named);
    if (named === null || source === null || !statOf(source)?.isDirectory()) {
      places.push(null);
      continue;
    }
    const reason = whyNotMounted([named, source], given);
    if (reason !== null)
      return { status: 'refused', reason: sentence(`--cache ${manager}: ${named}: ${reason}`) };
    const name = `${manager}-${index}`;
    // A layer would cover it below the home folder inside.
    const isAtItsPath = part.hasOwnPaths && !isWithin(source, home);
    const shownAt = isAtItsPath ? source : join(given.shownAt, name);
    const opened = await openPart({ part, named, source, shownAt, name }, given);
    if (opened.status === 'refused') return { ...opened, reason: `--cache ${manager}: ${opened.reason}` };
    mounts.push(...opened.mounts);
    shown.push({ path: source, writable: false });
    places.push(shownAt);
  }
  if (shown.length === 0) return { status: 'missing', reason: whyMissing(manager, preset, parts) };
  mounts.push(...filesOf(manager, preset, given));
  const variables = preset.variables?.({ offline: isOffline, home, places }) ?? {};
  return { status: 'ok', caches: { mounts, variables, shown, warnings: [] } };
}

interface FoundPart {
  readonly part: CachePart;
  readonly named: string;
  /** Its real path. */
  readonly source: string;
  /** Where commands see it. */
  readonly shownAt: string;
  readonly name: string;
}

async function openPart(
  { part, named, source, shownAt, name }: FoundPart,
  { isOffline, folder, home }: CacheSurroundings,
): Promise<{ status: 'ok'; mounts: Mount[] } | { status: 'refused'; reason: string }> {
  const empty = join(folder, 'empty');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(empty, '', { mode: 0o644 });
  const mounts: Mount[] = [
    { kind: 'read-only', source, at: shownAt },
    ...CREDENTIAL_FILES.filter((file) => statOf(join(source, file))?.isFile()).map(
      (file): Mount => ({ kind: 'read-only', source: empty, at: join(shownAt, file) }),
    ),
  ];
  const layer = join(folder, name);
  const tooLarge = await makeLayer({ part, source, named, shownAt, layer });
  if (tooLarge !== null) {
    const what =
      tooLarge === 'bytes'
        ? `more than ${MAX_COPIED_BYTES / 1024 ** 3} GiB would have to be copied`
        : `it has more than ${MAX_ENTRIES} entries`;
    return { status: 'refused', reason: `${named}: ${what}. Prune it, or show it with --mount ${named}.` };
  }
  if (part.hasWheels && isOffline) await nameWheels({ source, shownAt, layer });
  return {
    status: 'ok',
    mounts: [...mounts, { kind: 'read-write', source: layer, at: join(home, part.usual) }],
  };
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
function folderOf({ variable, usual, ofRoot }: CachePart, env: CacheSurroundings['hostEnv']): string | null {
  const [name = '', below = ''] = variable ?? [];
  const value = env[name];
  if (value && isAbsolute(value)) return withoutSlash(join(value, below));
  if (ofRoot !== undefined && getuid?.() === 0) return ofRoot;
  return env.HOME && isAbsolute(env.HOME) ? join(normalize(env.HOME), usual) : null;
}

function whyMissing(
  manager: PackageManager,
  { filledBy }: CachePreset,
  parts: readonly { part: CachePart; named: string | null }[],
): string {
  const places = parts.flatMap(({ named }) => named ?? []);
  const looked = places.length === 0 ? 'HOME is not set' : `there is no ${places.join(' and no ')}`;
  const variables = [...new Set(parts.flatMap(({ part }) => part.variable?.[0] ?? []))];
  const where = variables.length === 0 ? '' : `, or say where it is with ${variables.join(' or ')}`;
  return `--cache ${manager}: ${looked}. Fill it with "${filledBy}" on this machine${where}.`;
}

function filesOf(manager: PackageManager, { files }: CachePreset, given: CacheSurroundings): Mount[] {
  const { isOffline, folder, home } = given;
  return Object.entries(files?.({ offline: isOffline }) ?? {}).map(([path, text]): Mount => {
    const source = join(folder, `${manager}-files`, path);
    mkdirSync(dirname(source), { recursive: true, mode: 0o700 });
    writeFileSync(source, text, { mode: 0o644 });
    return { kind: 'read-only', source, at: join(home, path) };
  });
}

function withoutSlash(path: string): string {
  return path.length > 1 ? withoutTail(path, '/') : path;
}
