/**
 * Checks in the sandbox, before the model costs anything, whether the verify commands can run at all: whether the shell can parse
 * them, and whether it finds the program that each begins with. Executes none of them; `patchsmith check` does.
 */

import { join } from 'node:path';
import * as z from 'zod';
import type { FirstProgram } from '../../adapters/plan/first-program.ts';
import { succeeded } from '../../domain/conversation/tool.ts';
import { shellWord } from '../../domain/shell-word.ts';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { readBytes } from '../../files/regular-file.ts';
import type { Sandbox } from '../../ports.ts';
import type { Session } from '../session.ts';
import { installHint, missingProgramHint } from './install-hint.ts';

/** Milliseconds for the shell to look names up. */
const LOOKUP_MS = 30_000;

/** In quotes and on one line, cut if it is long. */
export function quotedCommand(text = ''): string {
  return oneLine(JSON.stringify(text), 300);
}

interface Lookup {
  readonly command: string;
  /** A line of shell that succeeds if it is there. */
  readonly script: string;
  /** What is missing if it fails, and what to do. */
  readonly why: string;
}

/** Why one of the commands cannot succeed, for people; null if no problem was found, or if the run has to stop. */
export async function whyNotRunnable(
  session: Session,
  commands: readonly string[],
  sandbox: Pick<Sandbox, 'run'>,
): Promise<string | null> {
  if (commands.length === 0 || session.input.settings.preflight === 'off') return null;
  session.stage = 'verify';
  const { firstProgram } = await import('../../adapters/plan/first-program.ts');
  const { folder: root } = session;
  const found = commands.map(async (command) => {
    const program = firstProgram(command);
    if (program === null) return [];
    return [ofProgram(command, program, root), ...(await ofPackages(command, program, root))];
  });
  const lookups = (await Promise.all(found)).flat();
  const { end, output } = await sandbox.run({
    script: [
      ...SYNTAX,
      ...commands.map(syntaxOf),
      ...lookups.map(({ script }, at) => `( ${script} ) || echo missing ${at}`),
    ].join('\n'),
    timeoutMs: LOOKUP_MS,
    signal: session.interrupt,
    isStrict: true,
  });
  if (end.interrupted) return null;
  const lines = `${output.head}${output.tail}`.split('\n');
  for (const line of lines) {
    const [, kind, at = '', said = ''] = /^(syntax|missing) (\d{1,9}) ?(.*)$/.exec(line) ?? [];
    if (kind === 'syntax')
      return `The shell cannot parse the verify command ${quotedCommand(commands[Number(at)])}: ${oneLine(session.redact(said.replace(/^\S*bash: /, '')), 300)}`;
    const lookup = kind === 'missing' ? lookups[Number(at)] : undefined;
    if (lookup !== undefined)
      return `The verify command ${quotedCommand(lookup.command)} cannot succeed: ${lookup.why}`;
  }
  return succeeded(end)
    ? null
    : `The shell cannot run verify commands as bash -eo pipefail: ${session.redact(lines.slice(0, 3).join(' ').trim())}`;
}

const SYNTAX = [
  `__syntax() { __at=$1; shift; __said=$("\${BASH:-/bin/sh}" "$@" -n 2>&1) || printf 'syntax %s %s\\n' "$__at" "\${__said%%$'\\n'*}"; }`,
];

function syntaxOf(command: string, at: number): string {
  let end = 'END';
  while (command.includes(end)) end += '_';
  // Without being run, the script cannot switch on what it needs to be read.
  const options = command.includes('extglob') ? ' -O extglob' : '';
  return `__syntax ${at}${options} <<'${end}'\n${command}\n${end}`;
}

function ofProgram(command: string, { name, folder }: FirstProgram, root: string | null): Lookup {
  const hint =
    missingProgramHint(root, name, '', folder) ||
    (name.includes('/')
      ? ' For a script that the run is to create, name its interpreter first: sh, node, python3, …'
      : ' patchsmith doctor shows what commands can see.');
  return {
    command,
    script: `cd -- ${shellWord(folder)} 2>/dev/null || exit 0; command -v ${shellWord(name)} >/dev/null 2>&1`,
    why: `${quotedCommand(name)} is not found in the sandbox, or is not executable.${hint}`,
  };
}

/**
 * What the first program of a command needs of its project: the module of `python -m`, a script of package.json, or any installed
 * package where package.json has dependencies.
 */
async function ofPackages(
  command: string,
  { name, words, folder, sets }: FirstProgram,
  root: string | null,
): Promise<Lookup[]> {
  if (folder.startsWith('/') || sets.some((one) => FROM_ELSEWHERE.test(one))) return [];
  const there = `cd -- ${shellWord(folder)} 2>/dev/null || exit 0`;
  const hint = installHint(root, command, folder);
  const [first, second] = words;
  if (/^(?:[\w.-]+\/)*python[\d.]*$/.test(name)) {
    const [, module] = /^([A-Za-z_]\w*)(?:\.[\w.]*)?$/.exec((first === '-m' && second) || '') ?? [];
    if (module === undefined) return [];
    const find = 'import importlib.util as u, sys; sys.exit(7 if u.find_spec(sys.argv[1]) is None else 0)';
    const script = `${there}; ${name} -c ${shellWord(find)} ${module} >/dev/null 2>&1; [ $? -ne 7 ]`;
    const own = name.includes('/') ? ` Install it there: ${name} -m pip install ${module}.` : '';
    return [{ command, script, why: `${name} has no module ${module} in the sandbox.${hint || own}` }];
  }
  const manifest = root === null || !NODE.test(name) ? null : await manifestIn(join(root, folder));
  if (manifest === null) return [];
  const { scripts = {}, dependencies = {} } = manifest;
  const called = name === 'node' || /x$/.test(name) ? null : first === 'run' ? second : first;
  if (name === 'npm' && /^(?:run|test)$/.test(first ?? '') && called && !called.startsWith('-'))
    if (!Object.hasOwn(scripts, called))
      return [{ command, script: 'false', why: `package.json has no script ${quotedCommand(called)}.` }];
  const text = called ? (Object.hasOwn(scripts, called) ? scripts[called] : '') : [name, ...words].join(' ');
  const mayInstall = /\b(?:install|(?:npm|pnpm|yarn|bun) (?:i|ci|add))\b/;
  if (!text || mayInstall.test(text) || mayInstall.test(scripts[`pre${called}`] ?? '')) return [];
  const [, program = ''] =
    /^(?:\w+=\S+ |(?:npx|bunx) (?:--no-install |--yes |-y )?)*([a-z][\w.-]*)/.exec(text) ?? [];
  if (program !== '' && !NODE.test(program)) {
    const why = `${quotedCommand(program)}, which ${called ? `the script ${called} names` : 'it starts'}, is not found in node_modules/.bin or the sandbox.${hint}`;
    const known = /x$/.test(name) ? '' : `command -v ${program} >/dev/null 2>&1 && exit 0; `;
    return [{ command, script: `${there}; ${known}${upwards(`node_modules/.bin/${program}`)}`, why }];
  }
  const [dependency] = Object.keys(dependencies);
  if (dependency === undefined || !/^(?:node|bun)$/.test(program)) return [];
  const why = `package.json names packages such as ${dependency}, and none is installed.${hint} If the command does without them: --preflight off.`;
  return [{ command, script: `${there}; [ -z "$NODE_PATH" ] || exit 0; ${upwards('node_modules')}`, why }];
}

/** What starts programs of packages, or modules that import them. */
const NODE = /^(?:node|npm|pnpm|yarn|bun|npx|bunx)$/;

/** Looks for a path in the current folder and all above it. With Plug'n'Play, Yarn has packages elsewhere. */
function upwards(path: string): string {
  return `while :; do for one in ${path} .pnp.*; do [ ! -e "$one" ] || exit 0; done; [ "$PWD" != / ] || exit 1; cd ..; done`;
}

/** Variables that bring modules, programs or settings from elsewhere. */
const FROM_ELSEWHERE = /PATH|PYTHON|^npm_config/i;

const Text = z.record(z.string(), z.string());
const Package = z.object({ scripts: Text.optional(), dependencies: Text.optional() });
const MAX_PACKAGE_BYTES = 1_000_000;

/** Null if there is none that can be read. */
async function manifestIn(folder: string): Promise<z.infer<typeof Package> | null> {
  const read = await readBytes(join(folder, 'package.json'), { maxBytes: MAX_PACKAGE_BYTES, follow: false });
  if (read.status === 'failed') return null;
  return Package.safeParse(jsonOrUndefined(read.bytes.toString('utf8'))).data ?? null;
}
