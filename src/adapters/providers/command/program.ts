/** The program of a command provider: which one it is, what it may inherit, and whether others can change it. */

import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, normalize } from 'node:path';
import { isWithin } from '../../../domain/changes/path.ts';
import type { Environment } from '../../../domain/environment.ts';

/**
 * These say who the user is and which language to use; any other has to be named, since it may hold a secret or a
 * path to load code from.
 */
const INHERITED = ['HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/**
 * The words of a command line, split at blanks; both kinds of quotes hold words together, and nothing else is
 * special.
 */
export function wordsOf(line: string): string[] | null {
  const words: string[] = [];
  const pattern = /\s*((?:[^\s"']|"[^"]*"|'[^']*')+)/gy;
  let at = 0;
  for (const match of line.matchAll(pattern)) {
    const [all, word = ''] = match;
    at = match.index + all.length;
    words.push(word.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single));
  }
  return line.slice(at).trim() === '' && words.length > 0 ? words : null;
}

/**
 * The variables of the program: a few fixed ones and those that are named, with the folders in `writable` removed
 * from its path.
 */
export function programEnvironment(
  env: Environment,
  named: readonly string[],
  writable: readonly string[],
): Record<string, string> {
  const taken = [...INHERITED, ...named].flatMap((name) =>
    env[name] === undefined ? [] : [[name, env[name]]],
  );
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const path = folders.filter((folder) => !isReachable(folder, writable)).join(delimiter);
  return { ...Object.fromEntries(taken), PATH: path };
}

/**
 * The first word as an absolute path: as it is given, or looked up on `path`. Null if there is no such executable.
 * Links are kept: a program may look at the name it was started with.
 */
export function locateProgram(name: string, path: string): string | null {
  if (name.includes('/')) return isAbsolute(name) && isProgram(name) ? name : null;
  return (
    path
      .split(delimiter)
      .map((folder) => join(folder, name))
      .find(isProgram) ?? null
  );
}

/**
 * The word that is a path where the model's commands can write: what they leave there would run outside the sandbox.
 * Null if there is none.
 */
export function reachableWord(words: readonly string[], writable: readonly string[]): string | null {
  const parts = (word: string) => [word, word.slice(word.indexOf('=') + 1)];
  return (
    words.find((word) => parts(word).some((part) => isAbsolute(part) && isReachable(part, writable))) ?? null
  );
}

function isReachable(path: string, writable: readonly string[]): boolean {
  return writable.some(
    (folder) => isWithin(normalize(path), folder) || isWithin(realPath(path), realPath(folder)),
  );
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return path;
    throw error;
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
