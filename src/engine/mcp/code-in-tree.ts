/** What of a server's command line and variables would make code of the work tree run outside of the sandbox. */

import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isWithin } from '../../domain/changes/path.ts';

/** How a program is started. */
export interface ProgramLine {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The word or the variable that names it; null when there is none. Folders that a server only works on are none. */
export function codeInTree(root: string, { command, args, env }: ProgramLine): string | null {
  const isPath = command.includes('/');
  const words = [...(isPath ? [command] : []), ...args];
  const file = words.find((word) => namesOf(word).some((name) => kindIn(root, name) === 'file'));
  if (file !== undefined) return file;
  if (isPath && !command.startsWith('/')) return command;
  return packageOf(root, command, args) ?? variableOf(root, env);
}

/** The word itself, and what follows the sign in `--option=value`. */
function namesOf(word: string): string[] {
  const sign = word.indexOf('=');
  return word.startsWith('-') && sign > 0 ? [word, word.slice(sign + 1)] : [word];
}

function kindIn(root: string, name: string): 'file' | 'folder' | null {
  const place = resolve(root, name);
  if (!isWithin(place, root)) return null;
  const stat = statSync(place, { throwIfNoEntry: false });
  if (stat?.isFile()) return 'file';
  return stat?.isDirectory() ? 'folder' : null;
}

/** Programs that take a folder for a program: `node FOLDER` runs its index.js, `python FOLDER` its __main__.py. */
const INTERPRETERS = /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*)$/;
/** What follows is no path: a module by its name, or a script. */
const NAMED_OTHERWISE = ['-m', '-c', '-e', '-p', '--eval', '--print'];

/** Up to the program, a folder would be one, or have some of its code; whatever follows is the program's own. */
function packageOf(root: string, command: string, args: readonly string[]): string | null {
  if (!INTERPRETERS.test(basename(command))) return null;
  for (const word of args) {
    if (NAMED_OTHERWISE.includes(word)) return null;
    if (namesOf(word).some((name) => name.startsWith('/') && kindIn(root, name) === 'folder')) return word;
    if (word.startsWith('/') && statSync(word, { throwIfNoEntry: false })?.isFile()) return null;
  }
  return null;
}

/** Variables by which programs find code. */
const CODE_VARIABLES =
  /^(?:PATH|NODE_OPTIONS|NODE_PATH|PYTHONPATH|PYTHONSTARTUP|PYTHONHOME|PERL5LIB|PERL5OPT|RUBYLIB|RUBYOPT|BASH_ENV|ENV|CLASSPATH|JAVA_TOOL_OPTIONS|LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT)$/;

function variableOf(root: string, env: ProgramLine['env']): string | null {
  for (const [name, value] of Object.entries(env)) {
    if (!CODE_VARIABLES.test(name)) continue;
    const places = value.split(/[\s:=,]+/).filter((place) => place.startsWith('/'));
    // The value may be a secret.
    if (places.some((place) => isWithin(resolve(place), root))) return name;
  }
  return null;
}
