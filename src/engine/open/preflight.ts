/**
 * Whether the verify commands can be run at all, looked up in the sandbox before the model costs anything: whether the shell can
 * read them, and whether it finds the programs that they name. Nothing of them is executed.
 */

import type { NeededPackages } from '../../adapters/survey/needed/needed.ts';
import { succeeded } from '../../domain/conversation/tool.ts';
import { missingProgram } from '../../domain/review/denied.ts';
import type { CommandReport } from '../../domain/run/events.ts';
import { wasNotRun } from '../../domain/run/verify-baseline.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import type { Sandbox } from '../../ports.ts';
import type { Session } from '../session.ts';
import { installHint, missingProgramHint } from './install-hint.ts';
import type { NeededPart } from './needed-parts.ts';

/** Milliseconds for the shell to look names up. */
const LOOKUP_MS = 30_000;

/** Why one of the commands cannot succeed, for people; null when nothing speaks against them, or when the run is to stop. */
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
  const parts = await neededParts(session.root, commands);
  const packages = await packagesNeeded(session, commands, sandbox);
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
      return `The shell cannot read the verify command ${quoted(commands[Number(at)])}: ${oneLine(session.redact(said.replace(/^\S*bash: /, '')), 300)}`;
    const part = kind === 'part' ? parts[Number(at)] : undefined;
    if (part !== undefined) return whyPartMissing(part, session.root);
    const lacking = kind === 'packages' ? packages[Number(at)] : undefined;
    if (lacking !== undefined) return whyPackagesMissing(lacking, session);
    const program = needed[Number(at)];
    if (kind === undefined || program === undefined) continue;
    const what = kind === 'missing' ? 'is not found in the sandbox' : 'is not executable';
    const hint = kind === 'missing' ? hintFor(program, session.root) : '';
    return `The verify command ${quoted(program.command)} cannot succeed: ${quoted(program.name)} ${what}.${hint}`;
  }
  if (succeeded(end)) return null;
  return `The shell cannot run verify commands as bash -eo pipefail: ${session.redact(lines.slice(0, 3).join(' ').trim())}`;
}

function hintFor({ name }: Lookup, root: string | null): string {
  const hint = missingProgramHint(root, name, '');
  if (hint !== '') return hint;
  return name.includes('/')
    ? ' For a script that the run is to create, name its interpreter first: sh, node, python3, …'
    : ' patchsmith doctor shows what commands can see.';
}

function whyPartMissing(part: NeededPart, root: string | null): string {
  const what =
    part.kind === 'module'
      ? `${part.python} has no module ${quoted(part.name)}`
      : `its script ${quoted(part.script)} names ${quoted(part.name)}, which is not found`;
  return `The verify command ${quoted(part.command)} cannot succeed: ${what} in the sandbox.${installHint(root, part.command) || intoPython(part)}`;
}

/** What can only be on this machine: with a network, a command may load it. */
async function packagesNeeded(
  { root, input: { settings } }: Session,
  commands: readonly string[],
  { level }: Pick<Sandbox, 'level'>,
): Promise<NeededPackages[]> {
  const isOpen = level === 'none' || settings.allowedDomains.length + settings.allowedPrivate.length > 0;
  if (isOpen || root === null) return [];
  const { neededPackages } = await import('../../adapters/survey/needed/needed-packages.ts');
  return neededPackages(root, commands);
}

/** A virtual environment that is there, and lacks the module. */
function intoPython(part: NeededPart): string {
  if (part.kind === 'program' || !part.python.includes('/')) return '';
  return ` Install it there: ${part.python} -m pip install ${part.name}.`;
}

function whyPackagesMissing(
  { command, manager, what, line, hosts }: NeededPackages,
  { input: { settings } }: Session,
): string {
  const isShown = manager === null || settings.caches.some((cache) => cache === manager || cache === 'auto');
  const show = isShown ? '' : `, and give commands what it loads: --cache ${manager}`;
  const domains = hosts.map((host) => `--allow-domain ${host}`).join(' ');
  return `The verify command ${quoted(command)} cannot succeed: ${what} as commands see it, and they have no network. Type once: ${line}${show} – or allow the hosts: ${domains}.`;
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

/** Imports nothing: a module is only looked for. Without Python, that is what is missing. */
function lookupOf(part: NeededPart): string {
  if (part.kind === 'program')
    return `( PATH=$PWD/node_modules/.bin:$PATH; command -v ${shellQuoted(part.name)} >/dev/null 2>&1 )`;
  const find = `import importlib.util as u, sys; sys.exit(7 if u.find_spec(sys.argv[1]) is None else 0)`;
  return `( ${part.python} -c ${shellQuoted(find)} ${part.name} >/dev/null 2>&1; [ $? -ne 7 ] )`;
}

/** A word that is no line of the text. */
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
export function whyNotRun(reports: readonly CommandReport[], root: string | null): string | null {
  const report = reports.find(({ end }) => wasNotRun(end));
  if (report === undefined) return null;
  const last = report.output.trimEnd().split('\n').at(-1) ?? '';
  const what = `The verify command ${quoted(report.command)} ended with exit code ${report.end.exitCode} before the work`;
  const program = missingProgram(report.output);
  const hint = missingProgramHint(root, program ?? '', `${report.command} ${last}`);
  return `${what}, so a program that it needs is missing or cannot be executed: ${oneLine(last, 300)}${hint && `.${hint}`}`;
}
