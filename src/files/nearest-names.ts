/** Names the existing entries most similar to one that does not exist. */

import { distance } from 'fastest-levenshtein';
import { isGitDirName } from '../domain/changes/path.ts';
import { hasCode } from './failures.ts';
import { readEntries } from './tree-view.ts';

/** Maximum number of entries of a folder whose names are compared, and of names shown. */
const MAX_COMPARED = 20_000;
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
  if (names === null) return missing;
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

/** Null if there are too many, or the folder can be entered but not listed. */
function namesIn({ folder }: MissingName): string[] | null {
  try {
    const entries = readEntries(`/proc/self/fd/${folder}`, MAX_COMPARED)?.filter(
      ({ name }) => !isGitDirName(name),
    );
    return entries?.map((entry) => (entry.folder ? `${entry.name}/` : entry.name)) ?? null;
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'ENOENT')) throw error;
    return null;
  }
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
