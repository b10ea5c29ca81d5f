/**
 * The project file in the root of the repository. Hostile input: what it may set is decided where settings are resolved
 * (resolve.ts).
 */

import { join } from 'node:path';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { readBytes, textOf } from '../files/regular-file.ts';
import { readCommitted, repositoryRoot } from '../git/checkout-layout.ts';
import type { Revision } from '../ports/workspace.ts';

const MAX_BYTES = 65_536;

/** The parsed project file; `lines` gives the line of each key, counted from 1. */
export interface ProjectFile {
  readonly values: Readonly<Record<string, unknown>>;
  readonly lines: Readonly<Record<string, number>>;
}

/** `file` is null if the project has no such file. */
export type SettingsFileRead =
  | { status: 'ok'; file: ProjectFile | null }
  | { status: 'failed'; problems: Problem[] };

/**
 * Reads `name`, which ends with `.yml`, in the root of the repository that contains the folder `from`, or in a commit. A link is
 * refused, not followed. So is a file with YAML's other extension, since its author expects it to be used.
 */
export async function readSettingsFile(from: string | Revision, name: string): Promise<SettingsFileRead> {
  const unusable = (code: Problem['code'], ...messages: string[]): SettingsFileRead => ({
    status: 'failed',
    problems: messages.map((message) => problem(code, message)),
  });
  const root = typeof from === 'string' ? await repositoryRoot(from) : null;
  if (typeof from === 'string' && root === null) return { status: 'ok', file: null };
  const readOne = (one: string) =>
    typeof from === 'string'
      ? readBytes(join(root ?? '', one), { maxBytes: MAX_BYTES, follow: false })
      : readCommitted(from, one, MAX_BYTES);
  const otherName = name.replace(/\.yml$/, '.yaml');
  const other = await readOne(otherName);
  if (other.status === 'ok' || !other.missing)
    return unusable('ERR_PROJECT_FILE_MISNAMED', `${otherName}: is not read; its name must be ${name}`);
  const read = await readOne(name);
  if (read.status === 'failed' && read.missing) return { status: 'ok', file: null };
  const text = read.status === 'ok' ? textOf(read.bytes) : null;
  if (text === null) {
    const why = read.status === 'failed' ? read.why : 'is not UTF-8 text';
    return unusable('ERR_PROJECT_FILE_UNREADABLE', `${name}: ${why}`);
  }
  // Loaded only if the file exists.
  const { parseYamlMapping } = await import('./yaml.ts');
  const yaml = parseYamlMapping(text, 1);
  if (yaml.status === 'failed')
    return unusable(
      'ERR_PROJECT_FILE_INVALID',
      ...yaml.problems.map(({ line, message }) => `${name}:${line}: ${message}`),
    );
  const lines = Object.keys(yaml.values).map((key) => [key, yaml.lineOf([key])] as const);
  return { status: 'ok', file: { values: yaml.values, lines: Object.fromEntries(lines) } };
}
