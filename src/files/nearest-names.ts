/** Names the existing entries most similar to one that does not exist. */

import { opendirSync } from 'node:fs';
import { distance } from 'fastest-levenshtein';
import { isGitDirName } from '../domain/changes/path.ts';
import { hasCode } from './failures.ts';
import { decodeName } from './names.ts';

/** Maximum number of entries of a folder that are compared, and of names shown. */
const MAX_COMPARED = 5_000;
const MAX_SHOWN = 5;

/** A name that is missing from an open folder, which is a descriptor; `path` is the whole path including it. */
export interface MissingName {
  readonly folder: number;
  readonly name: string;
  readonly path: string;
}

/** `"src/ap" does not exist. Nearest names in "src": app, api.` */
export function describeMissing(place: MissingName): string {
  const missing = `${JSON.stringify(place.path)} does not exist.`;
  const names = namesIn(place);
  const wanted = place.name.toLowerCase();
  const nearest = names
    .map((name) => ({ name, far: distance(wanted, name.toLowerCase()) }))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SHOWN)
    .map(({ name }) => JSON.stringify(name));
  const folder = place.path.slice(0, Math.max(0, place.path.length - place.name.length - 1));
  const where = folder === '' ? 'the repository root' : JSON.stringify(folder);
  if (nearest.length === 0) return `${missing} ${capitalised(where)} is empty.`;
  return `${missing} Nearest names in ${where}: ${nearest.join(', ')}.`;
}

function namesIn({ folder }: MissingName): string[] {
  const names: string[] = [];
  try {
    const entries = opendirSync(`/proc/self/fd/${folder}`, { encoding: 'buffer' as BufferEncoding });
    try {
      for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
        const name = decodeName(Buffer.from(entry.name));
        if (!isGitDirName(name)) names.push(entry.isDirectory() ? `${name}/` : name);
        if (names.length === MAX_COMPARED) break;
      }
    } finally {
      entries.closeSync();
    }
  } catch (error) {
    // A folder that can be entered but not listed has no names to offer.
    if (!hasCode(error, 'EACCES', 'ENOENT')) throw error;
  }
  return names;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
