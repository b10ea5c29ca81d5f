/** Reads a folder of a repository that anyone may have written: small regular files only, without following links. */

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseRepoPath } from '../../domain/changes/path.ts';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { readFile } from '../../files/nofollow-files.ts';
import { textOf } from '../../files/regular-file.ts';
import type { Folder } from './project.ts';

const MAX_BYTES = 1_048_576;
const MAX_WORKFLOWS = 30;
const MAX_NAMES = 10_000;

/** The texts of the repository's workflows, by path. */
export type Workflows = ReadonlyMap<string, string>;

/** `prefix` is empty for the root, else ends with a slash; null when it is not a folder. */
export function openFolder(root: string, prefix: string, workflows: Workflows): Folder | null {
  const listed = namesIn(join(root, prefix));
  if (listed === null) return null;
  const names = new Set(listed);
  const text = (path: string | null) => (path === null ? '' : readText(root, prefix + path));
  return {
    prefix,
    names,
    first(...wanted) {
      for (const one of wanted) {
        const name = one.startsWith('*') ? listed.find((each) => each.endsWith(one.slice(1))) : one;
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
    inWorkflows(...texts) {
      for (const [path, content] of workflows) if (texts.some((one) => content.includes(one))) return path;
      return null;
    },
  };
}

/** The workflows that are there. */
export function readWorkflows(root: string): Workflows {
  const folder = '.github/workflows';
  const areFolders = ['.github', folder].every((path) =>
    lstatSync(join(root, path), { throwIfNoEntry: false })?.isDirectory(),
  );
  const names = areFolders ? (namesIn(join(root, folder)) ?? []) : [];
  const workflows = new Map<string, string>();
  for (const name of names.filter((one) => /\.ya?ml$/.test(one)).slice(0, MAX_WORKFLOWS)) {
    const text = readText(root, `${folder}/${name}`);
    if (text !== '') workflows.set(`${folder}/${name}`, text);
  }
  return workflows;
}

/** Sorted, without links; null when there is no such folder. */
function namesIn(path: string): string[] | null {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return null;
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
