/**
 * Checks in the sandbox, before the model costs anything, whether the verify commands can run at all: whether the shell can parse
 * them, and whether it finds the programs that they name. Executes none of them.
 */

import { normalize } from 'node:path';
import type { NeededPackages } from '../../adapters/survey/needed/needed.ts';
import { succeeded } from '../../domain/conversation/tool.ts';
import { INSTALLERS } from '../../domain/packages/installers.ts';
import { missingProgram } from '../../domain/review/denial-signs.ts';
import type { CommandReport } from '../../domain/run/events.ts';
import { wasNotRun } from '../../domain/run/verify-baseline.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import type { Sandbox } from '../../ports.ts';
import type { Session } from '../session.ts';
import {
  cacheHint,
  folderOfCommand,
  installHint,
  loadingIn,
  missingPackage,
  missingProgramHint,
} from './install-hint.ts';
import type { NeededPart } from './needed-parts.ts';
import { refusalsSaid } from './refused-hosts.ts';

/** Milliseconds for the shell to look names up. */
const LOOKUP_MS = 30_000;

/** Why one of the commands cannot succeed, for people; null if no problem was found, or if the run has to stop. */
export async function whyNotRunnable(
  session: Session,
  commands: readonly string[],
  sandbox: Pick<Sandbox, 'run' | 'level'>,
): Promise<string | null> {
  if (commands.length === 0 || session.input.settings.preflight === 'off') return null;
  session.stage = 'verify';
  const { neededPrograms } = await import('../../adapters/plan/needed-programs.ts');
  const needed = commands.flatMap((command) =>
    neededPrograms(command).map((program) => ({ command, ...program })),
  );
  const { neededParts } = await import('./needed-parts.ts');
  const canLoad = isOpen(session, sandbox);
  const { root } = session;
  const parts = await neededParts(commands, {
    root,
    canLoad: canLoad || session.input.settings.caches.length > 0,
  });
  const packages = canLoad || root === null ? [] : await packagesNeeded(root, commands);
  const { end, output } = await sandbox.run({
    script: lookupScript(commands, { needed, parts, packages }),
    timeoutMs: LOOKUP_MS,
    signal: session.interrupt,
    isStrict: true,
  });
  if (end.interrupted) return null;
  const lines = `${output.head}${output.tail}`.split('\n');
  for (const line of lines) {
    const [, kind, at = '', said = ''] =
      /^(syntax|missing|closed|part|packages) (\d+) ?(.*)$/.exec(line) ?? [];
    if (kind === 'syntax')
      return `The shell cannot parse the verify command ${quoted(commands[Number(at)])}: ${oneLine(session.redact(said.replace(/^\S*bash: /, '')), 300)}`;
    const part = kind === 'part' ? parts[Number(at)] : undefined;
    if (part !== undefined) return whyPartMissing(part, root);
    const lacking = kind === 'packages' ? packages[Number(at)] : undefined;
    if (lacking !== undefined) return whyPackagesMissing(lacking, session);
    const program = needed[Number(at)];
    if (kind === undefined || program === undefined) continue;
    const what = kind === 'missing' ? 'is not found in the sandbox' : 'is not executable';
    const hint = kind === 'missing' ? hintFor(program, root) : '';
    return `The verify command ${quoted(program.command)} cannot succeed: ${quoted(program.name)} ${what}.${hint}`;
  }
  if (succeeded(end)) return null;
  return `The shell cannot run verify commands as bash -eo pipefail: ${session.redact(lines.slice(0, 3).join(' ').trim())}`;
}

function hintFor({ name, folder }: Lookup, root: string | null): string {
  const hint = missingProgramHint(root, name, '', folder);
  if (hint !== '') return hint;
  return name.includes('/')
    ? ' For a script that the run is to create, name its interpreter first: sh, node, python3, …'
    : ' patchsmith doctor shows what commands can see.';
}

function whyPartMissing(part: NeededPart, root: string | null): string {
  const { command, folder } = part;
  // Packages bring no scripts of the project.
  const hint = part.kind === 'script' ? '' : installHint(root, command, folder) || intoPython(part);
  return `The verify command ${quoted(command)} cannot succeed: ${whatIsMissing(part)}.${hint}${toDoAnyway(part)}`;
}

function whatIsMissing(part: NeededPart): string {
  const name = quoted(part.name);
  switch (part.kind) {
    case 'module':
      return `${part.python} has no module ${name} in the sandbox`;
    case 'program':
      return part.script === null
        ? `there is no ${name} in node_modules/.bin`
        : `its script ${quoted(part.script)} names ${name}, which is not found in the sandbox`;
    case 'script':
      return `package.json has no script ${name}`;
    case 'packages':
      return `package.json names packages such as ${name}, and none is installed`;
  }
}

/** Why a setup command cannot succeed; null if no problem was found. Most package managers find out quickly themselves. */
export async function whyNoSetup(
  session: Session,
  commands: readonly string[],
  sandbox: Pick<Sandbox, 'level'>,
): Promise<string | null> {
  const { root, input } = session;
  const { caches, preflight } = input.settings;
  if (root === null || preflight === 'off' || caches.length > 0 || isOpen(session, sandbox)) return null;
  for (const command of commands) {
    const manager = await loaderIn(command, root);
    if (manager === null) continue;
    const domains = INSTALLERS[manager].hosts.map((host) => `--allow-domain ${host}`).join(' ');
    const { locked } = INSTALLERS[manager];
    // No cache of Composer can be shown, and what is in vendor it does not load.
    const instead =
      manager === 'composer'
        ? `run it once by hand: ${inFolder(await folderOfCommand(command), locked)}`
        : `show what this machine has loaded: --cache ${manager}`;
    return `The setup command ${quoted(command)} cannot succeed: it loads packages, and commands have no network. Allow the hosts: ${domains} – or ${instead}.`;
  }
  return null;
}

function inFolder(folder: string, line: string): string {
  const path = normalize(folder);
  return path === '.' ? line : `cd ${path} && ${line}`;
}

/** The manager by which the command is certain to load packages, and would take long to find out that it cannot. */
async function loaderIn(command: string, root: string): Promise<'yarn' | 'pip' | 'composer' | null> {
  const isYarn = /\byarn(?: install)?(?: --[\w-]+)*\s*(?:$|[;|&}])/.test(command);
  const isComposer = /\bcomposer(?: -[\w-]+)* i(?:nstall)?(?: -[\w-]+)*\s*(?:$|[;|&}])/.test(command);
  if (!isYarn && !isComposer && !command.includes('-m venv')) return null;
  const path = normalize(await folderOfCommand(command));
  const folder = path === '.' ? '' : path;
  if (isYarn) {
    const { yarnLoads } = await import('../../adapters/survey/needed/yarn.ts');
    return (await yarnLoads(root, folder)) ? 'yarn' : null;
  }
  if (isComposer) {
    const { composerLoads } = await import('../../adapters/survey/needed/composer.ts');
    return (await composerLoads(root, folder, command)) ? 'composer' : null;
  }
  const { pipLoads } = await import('../../adapters/survey/needed/pip.ts');
  return (await pipLoads(root, folder, command)) ? 'pip' : null;
}

/** For what may be as it should. */
function toDoAnyway(part: NeededPart): string {
  if (part.kind === 'script') return ` For one that the run is to add: sh -c ${quoted(part.command)}.`;
  return part.kind === 'packages' ? ' If the command does without them: --preflight off.' : '';
}

/** With a network, a command may download what this machine lacks. */
function isOpen({ input: { settings } }: Session, { level }: Pick<Sandbox, 'level'>): boolean {
  return level === 'none' || settings.allowedDomains.length + settings.allowedPrivate.length > 0;
}

async function packagesNeeded(root: string, commands: readonly string[]): Promise<NeededPackages[]> {
  const { neededPackages } = await import('../../adapters/survey/needed/needed-packages.ts');
  return neededPackages(root, commands);
}

/** A virtual environment that is there, and lacks the module. */
function intoPython(part: NeededPart): string {
  if (part.kind !== 'module' || !part.python.includes('/')) return '';
  return ` Install it there: ${part.python} -m pip install ${part.name}.`;
}

function whyPackagesMissing(
  { command, manager, what, line, hosts }: NeededPackages,
  { input: { settings } }: Session,
): string {
  const isShown = manager === null || settings.caches.some((cache) => cache === manager || cache === 'auto');
  const show = isShown ? '' : `, and make its downloads available to commands: --cache ${manager}`;
  const domains = hosts.map((host) => `--allow-domain ${host}`).join(' ');
  return `The verify command ${quoted(command)} cannot succeed: ${what} as commands see it, and they have no network. Run once: ${line}${show} – or allow the hosts: ${domains}.`;
}

interface Looked {
  readonly needed: readonly Lookup[];
  readonly parts: readonly NeededPart[];
  readonly packages: readonly NeededPackages[];
}

interface Lookup {
  readonly name: string;
  readonly folder: string;
}

/** Prints a line for each command that cannot be read, and for each program that is not there. */
function lookupScript(commands: readonly string[], { needed, parts, packages }: Looked): string {
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
    ...needed.map(({ name, folder }, at) => `__look ${at} ${shellQuoted(folder)} ${shellQuoted(name)}`),
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
  const folder = shellQuoted(part.folder);
  if (part.kind === 'script') return 'false';
  if (part.kind === 'packages') return `__node any ${folder}`;
  if (part.kind === 'program')
    return `__node ${part.script === null ? 'npx' : 'bin'} ${folder} ${shellQuoted(part.name)}`;
  const find = `import importlib.util as u, sys; sys.exit(7 if u.find_spec(sys.argv[1]) is None else 0)`;
  return `( cd -- ${folder} 2>/dev/null || exit 0; ${part.python} -c ${shellQuoted(find)} ${part.name} >/dev/null 2>&1; [ $? -ne 7 ] )`;
}

/** A delimiter that is not a line of the text. */
function endOfText(text: string): string {
  let end = 'END';
  while (text.includes(end)) end += '_';
  return end;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quoted(text = ''): string {
  return oneLine(JSON.stringify(text), 300);
}

/** Why commands that ran before the work say nothing about it; null when they do. */
export async function whyNotRun(
  session: Pick<Session, 'root' | 'input'>,
  reports: readonly CommandReport[],
): Promise<string | null> {
  const { root } = session;
  const report = reports.find(({ end }) => wasNotRun(end));
  if (report === undefined) return whyNotInstalled(session, reports);
  const folder = await folderOfCommand(report.command);
  const missing = missingProgram(report.output);
  const last = missing?.line ?? report.output.trimEnd().split('\n').at(-1) ?? '';
  const what = `The verify command ${quoted(report.command)} ended with exit code ${report.end.exitCode} before the work`;
  const hint = missingProgramHint(root, missing?.program ?? '', `${report.command} ${last}`, folder);
  return `${what}, so a program that it needs is missing or cannot be executed: ${oneLine(last.replace(/\.$/, ''), 300)}${hint && `.${hint}`}`;
}

/** Nothing that a run may do could make such a command pass. */
async function whyNotInstalled(
  { root, input }: Pick<Session, 'root' | 'input'>,
  reports: readonly CommandReport[],
): Promise<string | null> {
  const { caches } = input.settings;
  for (const { command, end, output } of reports) {
    if (succeeded(end)) continue;
    const lacking = missingPackage(output);
    const hint = lacking && installHint(root, command, await folderOfCommand(command));
    const fails = `The verify command ${quoted(command)} fails before the work, since`;
    if (hint) return `${fails} something is not installed: ${lacking}.${hint}`;
    const refused = await packagesRefused(root, command, output);
    if (refused !== null) return `${fails} it loads packages. ${refused}`;
    const uncached = await cacheHint({ root, caches }, command, output);
    if (uncached !== '') return `${fails} packages are missing.${uncached}`;
  }
  return null;
}

/** If the command's package manager was refused a host: which one, and what to do. */
async function packagesRefused(root: string | null, command: string, output: string): Promise<string | null> {
  const loading = await loadingIn(root, command);
  const refused = refusalsSaid(output).find((line) =>
    loading?.hosts.some((host) => line.includes(` ${host} `)),
  );
  if (loading === null || refused === undefined) return null;
  const domains = loading.hosts.map((host) => `--allow-domain ${host}`).join(' ');
  const all = loading.hosts.length > 1 ? ` All hosts that it asks: ${domains}.` : '';
  const show =
    loading.cache === null ? '' : ` Or show what this machine has loaded: --cache ${loading.cache}.`;
  return `${refused}.${all}${show}`;
}
