/** Reads the root of a repository that anyone may have written: small regular files only, without following links. */

import { lstatSync, readdirSync } from 'node:fs';
import { parseRepoPath } from '../../domain/changes/path.ts';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { readFile } from '../../files/nofollow-files.ts';
import { textOf } from '../../files/regular-file.ts';

const MAX_BYTES = 1_048_576;
const MAX_NAMES = 10_000;

/** A folder of the repository, for reading. Nothing in it is ever executed. */
export interface Folder {
  /** The files and folders in it. Links are left out. */
  readonly names: ReadonlySet<string>;
  /** The first of these that is there; an entry that begins with `*` names the end. */
  first(...names: readonly string[]): string | null;
  /** The text of a small file; empty when it is missing, a link, too large or no text. */
  text(path: string | null): string;
  /** A parsed file; null when it is missing or wrong. */
  json(path: string): unknown;
  toml(path: string): Promise<unknown>;
}

/** Without anything in it if it is not a folder. */
export function openFolder(root: string): Folder {
  const all = namesIn(root);
  const names = new Set(all);
  const text = (path: string | null) => (path === null ? '' : readText(root, path));
  return {
    names,
    first(...wanted) {
      for (const one of wanted) {
        const name = one.startsWith('*') ? all.find((each) => each.endsWith(one.slice(1))) : one;
        if (name !== undefined && names.has(name)) return name;
      }
      return null;
    },
    text,
    json: (path) => jsonOrUndefined(text(path)) ?? null,
    async toml(path) {
      if (!names.has(path)) return null;
      const { parse } = await import('smol-toml');
      try {
        return parse(text(path));
      } catch (error) {
        // Files that cannot be parsed count as missing.
        if (error instanceof Error) return null;
        throw error;
      }
    },
  };
}

/** Sorted, without links. */
function namesIn(path: string): string[] {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .slice(0, MAX_NAMES);
}

function readText(root: string, written: string): string {
  const path = parseRepoPath(written);
  if (!path.ok) return '';
  const read = readFile(root, path.path, MAX_BYTES);
  return (read.status === 'ok' ? textOf(read.bytes) : null) ?? '';
}
