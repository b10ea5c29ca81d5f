/** Token files of package managers in what commands are shown. */

import { basename, join } from 'node:path';
import { entriesOf, statOf } from '../host-files.ts';
import { CREDENTIAL_FILES } from './toolchain-policy.ts';

/** Those that are there: at the tops of these places, and of every version that is installed in one of them. */
export function credentialFilesIn(places: readonly string[]): string[] {
  const prefixes = new Set(places.flatMap((place) => [place, ...versionsIn(place)]));
  const paths = [...prefixes].flatMap((prefix) => CREDENTIAL_FILES.map((name) => join(prefix, name)));
  return paths.filter((path) => statOf(path)?.isFile());
}

/** Folders that version managers keep versions in, one a folder, and often one folder a tool above that. */
const STORES = ['envs', 'hostedtoolcache', 'installs', 'python', 'toolchains', 'versions'];

/** `tool/version/architecture` of a hosted tool cache is the longest way. */
const DEEPEST = 3;
/** Folders that are looked into in all; a machine has some dozens. */
const MOST = 1_000;

function versionsIn(place: string): string[] {
  const stores = STORES.includes(basename(place)) ? [place] : STORES.map((name) => join(place, name));
  let level = stores.filter((store) => statOf(store)?.isDirectory());
  const found: string[] = [];
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    // What has programs is a version, and nothing in it is another.
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
