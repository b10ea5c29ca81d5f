/** The script that looks up in the sandbox what commands need. It runs none of them. */

import type { NeededPackages } from '../../../adapters/survey/needed/needed.ts';
import { shellWord } from '../../../domain/shell-word.ts';
import type { NeededPart } from './needed-parts.ts';

interface Looked {
  readonly needed: readonly ProgramLookup[];
  readonly parts: readonly NeededPart[];
  readonly packages: readonly NeededPackages[];
}

/** A program, and the folder that the command is in by then. */
export interface ProgramLookup {
  readonly name: string;
  readonly folder: string;
}

/** Prints a line for each command that cannot be read, and for each program that is not there. */
export function lookupScript(commands: readonly string[], { needed, parts, packages }: Looked): string {
  return [
    `__syntax() { __at=$1; shift; __said=$("\${BASH:-/bin/sh}" "$@" -n 2>&1) || printf 'syntax %s %s\\n' "$__at" "\${__said%%$'\\n'*}"; }`,
    `__look() ( cd -- "$2" 2>/dev/null || exit 0; command -v "$3" >/dev/null 2>&1 && exit; case $3 in */*) [ ! -e "$3" ] || { echo "closed $1"; exit; }; esac; echo "missing $1" )`,
    NODE_LOOKUP,
    ...commands.map((command, at) => {
      const end = endOfText(command);
      // Without being run, the script cannot switch on what it needs to be read.
      const options = command.includes('extglob') ? ' -O extglob' : '';
      return `__syntax ${at}${options} <<'${end}'\n${command}\n${end}`;
    }),
    ...needed.map(({ name, folder }, at) => `__look ${at} ${shellWord(folder)} ${shellWord(name)}`),
    ...parts.map((part, at) => `${lookupOf(part)} || echo part ${at}`),
    ...packages.map(({ look }, at) => `( ${look}\n) || echo packages ${at}`),
  ].join('\n');
}

/**
 * What Node.js finds from a folder: `bin` a program that a script of package.json names, `npx` one that is started so (of those
 * on PATH, only what npm installed globally), `any` packages at all. With Plug'n'Play, Yarn has them elsewhere.
 */
const NODE_LOOKUP = [
  `__node() ( cd -- "$2" 2>/dev/null || exit 0; at=$PWD; while [ "$at" != / ]; do`,
  `for one in "$at"/.pnp.*; do [ ! -e "$one" ] || exit 0; done`,
  `case $1 in any) [ ! -d "$at/node_modules" ] || exit 0;; *) [ ! -e "$at/node_modules/.bin/$3" ] || exit 0;; esac`,
  `at=$(dirname -- "$at"); done`,
  `case $1 in any) [ -n "$NODE_PATH" ];; bin) command -v "$3" >/dev/null 2>&1;; npx) [ -e "$(dirname -- "$(command -v npx)")/$3" ];; esac )`,
].join('\n');

/** Imports nothing: a module is only looked for. Without Python, that is what is missing. */
function lookupOf(part: NeededPart): string {
  const folder = shellWord(part.folder);
  if (part.kind === 'script') return 'false';
  if (part.kind === 'packages') return `__node any ${folder}`;
  if (part.kind === 'program')
    return `__node ${part.script === null ? 'npx' : 'bin'} ${folder} ${shellWord(part.name)}`;
  const find = `import importlib.util as u, sys; sys.exit(7 if u.find_spec(sys.argv[1]) is None else 0)`;
  return `( cd -- ${folder} 2>/dev/null || exit 0; ${part.python} -c ${shellWord(find)} ${part.name} >/dev/null 2>&1; [ $? -ne 7 ] )`;
}

/** A delimiter that is not a line of the text. */
function endOfText(text: string): string {
  let end = 'END';
  while (text.includes(end)) end += '_';
  return end;
}
