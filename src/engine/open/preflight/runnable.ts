/**
 * Checks in the sandbox, before the model costs anything, whether the verify commands can run at all: whether the shell can parse
 * them, and whether it finds the programs that they name. Executes none of them.
 */

import type { NeededPackages } from '../../../adapters/survey/needed/needed.ts';
import { succeeded } from '../../../domain/conversation/tool.ts';
import { oneLine } from '../../../domain/text/terminal.ts';
import type { Sandbox } from '../../../ports.ts';
import type { Session } from '../../session.ts';
import { installHint, missingProgramHint } from '../install-hint.ts';
import { hasNetwork, whyLoadsInVain } from './loading.ts';
import { lookupScript, type ProgramLookup } from './lookup-script.ts';
import type { NeededPart } from './needed-parts.ts';
import { quotedCommand } from './quoted-command.ts';

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
  const { neededPrograms } = await import('../../../adapters/plan/needed-programs.ts');
  const needed = commands.flatMap((command) =>
    neededPrograms(command).map((program) => ({ command, ...program })),
  );
  const { neededParts } = await import('./needed-parts.ts');
  const canLoad = hasNetwork(session, sandbox);
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
      /^(syntax|missing|closed|part|packages) (\d{1,9}) ?(.*)$/.exec(line) ?? [];
    if (kind === 'syntax')
      return `The shell cannot parse the verify command ${quotedCommand(commands[Number(at)])}: ${oneLine(session.redact(said.replace(/^\S*bash: /, '')), 300)}`;
    const part = kind === 'part' ? parts[Number(at)] : undefined;
    if (part !== undefined) return whyPartMissing(part, root);
    const lacking = kind === 'packages' ? packages[Number(at)] : undefined;
    if (lacking !== undefined) return whyPackagesMissing(lacking, session);
    const program = needed[Number(at)];
    if (kind === undefined || program === undefined) continue;
    const what = kind === 'missing' ? 'is not found in the sandbox' : 'is not executable';
    const hint = kind === 'missing' ? hintFor(program, root) : '';
    return `The verify command ${quotedCommand(program.command)} cannot succeed: ${quotedCommand(program.name)} ${what}.${hint}`;
  }
  if (succeeded(end)) return whyLoadsInVain(session, sandbox, { kind: 'verify', commands });
  return `The shell cannot run verify commands as bash -eo pipefail: ${session.redact(lines.slice(0, 3).join(' ').trim())}`;
}

function hintFor({ name, folder }: ProgramLookup, root: string | null): string {
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
  return `The verify command ${quotedCommand(command)} cannot succeed: ${whatIsMissing(part)}.${hint}${toDoAnyway(part)}`;
}

function whatIsMissing(part: NeededPart): string {
  const name = quotedCommand(part.name);
  switch (part.kind) {
    case 'module':
      return `${part.python} has no module ${name} in the sandbox`;
    case 'program':
      return part.script === null
        ? `there is no ${name} in node_modules/.bin`
        : `its script ${quotedCommand(part.script)} names ${name}, which is not found in the sandbox`;
    case 'script':
      return `package.json has no script ${name}`;
    case 'packages':
      return `package.json names packages such as ${name}, and none is installed`;
  }
}

/** For what may be as it should. */
function toDoAnyway(part: NeededPart): string {
  if (part.kind === 'script') return ` For one that the run is to add: sh -c ${quotedCommand(part.command)}.`;
  return part.kind === 'packages' ? ' If the command does without them: --preflight off.' : '';
}

async function packagesNeeded(root: string, commands: readonly string[]): Promise<NeededPackages[]> {
  const { neededPackages } = await import('../../../adapters/survey/needed/needed-packages.ts');
  return neededPackages(root, commands);
}

/** A virtual environment that exists but lacks the module. */
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
  return `The verify command ${quotedCommand(command)} cannot succeed: ${what} as commands see it, and they have no network. Run once: ${line}${show} – or allow the hosts: ${domains}.`;
}
