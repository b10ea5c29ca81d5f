/** Token files of package managers in the places shown to commands. */

import { basename, join } from 'node:path';
import { entriesOf, statOf } from '../host-files.ts';
import { CREDENTIAL_FILES } from './toolchain-policy.ts';

/** Those that exist: at the top of these places, and of every version installed in one of them. */
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
