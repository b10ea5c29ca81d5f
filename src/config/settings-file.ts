/**
 * The project file in the root of the repository. Hostile input: what it may set is decided where settings are resolved
 * (resolve.ts).
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { readBytes, textOf } from '../files/regular-file.ts';
import { repositoryRoot } from '../git/checkout-layout.ts';
import type { Revision } from '../ports/workspace.ts';

const MAX_BYTES = 65_536;

/** `lines` gives the line of each key, counted from 1. `file` is null if there is none. */
export type SettingsFileRead =
  | { status: 'ok'; file: { values: Record<string, unknown>; lines: Record<string, number> } | null }
  | { status: 'failed'; problems: Problem[] };

/**
 * Reads `name`, which ends with `.yml`, in the root of the repository that contains `start`. A link is refused, not
 * followed. So is a file with YAML's other extension, since its author expects it to be used.
 */
export async function readSettingsFile(start: string, name: string): Promise<SettingsFileRead> {
  const root = await repositoryRoot(start);
  if (root === null) return { status: 'ok', file: null };
  if (existsSync(join(root, otherEnding(name)))) return misnamed(name);
  const read = await readBytes(join(root, name), { maxBytes: MAX_BYTES, follow: false });
  if (read.status === 'failed') {
    return read.missing
      ? { status: 'ok', file: null }
      : unusableFile('ERR_PROJECT_FILE_UNREADABLE', `${name}: ${read.why}`);
  }
  return settingsIn(read.bytes, name);
}

/** The same from a commit. */
export async function readSettingsAt(revision: Revision, name: string): Promise<SettingsFileRead> {
  if ((await revision.read(otherEnding(name))) !== null) return misnamed(name);
  const bytes = await revision.read(name);
  if (bytes === null) return { status: 'ok', file: null };
  return bytes.length > MAX_BYTES
    ? unusableFile('ERR_PROJECT_FILE_UNREADABLE', `${name}: is larger than ${MAX_BYTES} bytes`)
    : settingsIn(bytes, name);
}

async function settingsIn(bytes: Uint8Array, name: string): Promise<SettingsFileRead> {
  const text = textOf(bytes);
  if (text === null) return unusableFile('ERR_PROJECT_FILE_UNREADABLE', `${name}: is not UTF-8 text`);
  // Loaded only if the file exists.
  const { parseYamlMapping } = await import('./yaml.ts');
  const yaml = parseYamlMapping(text, 1);
  switch (yaml.status) {
    case 'failed':
      return unusableFile(
        'ERR_PROJECT_FILE_INVALID',
        ...yaml.problems.map(({ line, message }) => `${name}:${line}: ${message}`),
      );
    case 'not_a_mapping':
      return unusableFile(
        'ERR_PROJECT_FILE_INVALID',
        `${name}:1: not a mapping; it needs keys, such as max-iterations: 10`,
      );
    case 'ok': {
      const lines = Object.keys(yaml.values).map((key) => [key, yaml.lineOf([key])] as const);
      return { status: 'ok', file: { values: yaml.values, lines: Object.fromEntries(lines) } };
    }
  }
}

function otherEnding(name: string): string {
  return name.replace(/\.yml$/, '.yaml');
}

function misnamed(name: string): SettingsFileRead {
  return unusableFile(
    'ERR_PROJECT_FILE_MISNAMED',
    `${otherEnding(name)}: is not read; its name must be ${name}`,
  );
}

function unusableFile(code: Problem['code'], ...messages: string[]): SettingsFileRead {
  return { status: 'failed', problems: messages.map((message) => problem(code, message)) };
}
