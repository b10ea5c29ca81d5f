/** Finds what in a server's command line and variables would run code from the work tree outside the sandbox. */

import { realpathSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isWithin } from '../../domain/changes/path.ts';

/** How a program is started. */
interface ProgramLine {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The word or variable that names it, or null. Folders that a server only works on do not count. */
export function codeInTree(root: string, { command, args, env }: ProgramLine): string | null {
  const isPath = command.includes('/');
  const words = [...(isPath ? [command] : []), ...args];
  const file = words.find((word) => namesOf(root, word).some((name) => kindIn(root, name) === 'file'));
  if (file !== undefined) return file;
  if (isPath && !command.startsWith('/')) return command;
  return workplaceOf(root, args) ?? packageOf(root, command, args) ?? variableOf(root, env);
}

/** The word itself, what follows the sign in `--option=value`, and each place in the work tree that a script or an address in it names. */
function namesOf(root: string, word: string): string[] {
  const sign = word.indexOf('=');
  const value = word.startsWith('-') && sign > 0 ? [word.slice(sign + 1)] : [];
  const places = word.split(/[\s"'`;,|&()<>{}=]|file:\/\//).filter((part) => part.startsWith(`${root}/`));
  return [word, ...value, ...places];
}

/** Uses the resolved path, since a link outside may lead into the work tree. */
function kindIn(root: string, name: string): 'file' | 'folder' | null {
  const place = resolve(root, name);
  try {
    const stat = statSync(place, { throwIfNoEntry: false });
    if (stat === undefined || !(isWithin(place, root) || isWithin(realpathSync(place), root))) return null;
    if (stat.isFile()) return 'file';
    return stat.isDirectory() ? 'folder' : null;
  } catch (error) {
    // The word is not a path, for example because it has a thousand characters.
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

/** Options with which programs go to a folder, whose settings, scripts and programs they then use. */
const GOES_TO =
  /^(?:-C|--(?:prefix|dir|cwd|chdir|directory|project|project-dir|working-directory|manifest-path))$/;

/** The word that makes a program work in a folder of the work tree, or null. */
function workplaceOf(root: string, args: readonly string[]): string | null {
  for (const [at, word] of args.entries()) {
    // In a script.
    const entered = /(?:^|[\s;&|(])cd\s+["']?(\/[^\s"';&|)]*)/.exec(word)?.[1];
    if (entered !== undefined && kindIn(root, entered) === 'folder') return word;
    const [option = '', ...value] = word.split('=');
    const short = /^-C(.+)$/.exec(word)?.[1];
    const place =
      short ?? (GOES_TO.test(option) ? (value.length > 0 ? value.join('=') : args[at + 1]) : undefined);
    if (place?.startsWith('/') && kindIn(root, place) === 'folder') return word;
  }
  return null;
}

/** Programs that take a folder for a program: `node FOLDER` runs its index.js, `python FOLDER` its __main__.py. */
const INTERPRETERS = /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*)$/;
/** Options whose value is not a path, but the name of a module, or a script. */
const NAMED_OTHERWISE = ['-m', '-c', '-e', '-p', '--eval', '--print'];

/** Up to the program, a folder would be one, or have some of its code; whatever follows is the program's own. */
function packageOf(root: string, command: string, args: readonly string[]): string | null {
  if (!INTERPRETERS.test(basename(command))) return null;
  for (const word of args) {
    if (NAMED_OTHERWISE.includes(word)) return null;
    if (namesOf(root, word).some((name) => name.startsWith('/') && kindIn(root, name) === 'folder'))
      return word;
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
