/** Finds commands that would try in vain to load packages. */

import { normalize } from 'node:path';
import { INSTALLERS } from '../../../domain/packages/installers.ts';
import type { Sandbox } from '../../../ports.ts';
import type { Session } from '../../session.ts';
import { folderOfCommand } from '../install-hint.ts';
import { quotedCommand } from './quoted-command.ts';

/** Why one of the operator's commands cannot load its packages; null if no problem was found. Most package managers find out quickly. */
export async function whyLoadsInVain(
  session: Session,
  sandbox: Pick<Sandbox, 'level'>,
  { kind, commands }: { readonly kind: 'setup' | 'verify'; readonly commands: readonly string[] },
): Promise<string | null> {
  const { root, input } = session;
  const { caches, preflight } = input.settings;
  if (root === null || preflight === 'off' || caches.length > 0 || hasNetwork(session, sandbox)) return null;
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
    return `The ${kind} command ${quotedCommand(command)} cannot succeed: it loads packages, and commands have no network. Allow the hosts: ${domains} – or ${instead}.`;
  }
  return null;
}

function inFolder(folder: string, line: string): string {
  const path = normalize(folder);
  return path === '.' ? line : `cd ${path} && ${line}`;
}

/** The manager by which the command is certain to load packages, and would take long to find out that it cannot. */
async function loaderIn(command: string, root: string): Promise<'yarn' | 'pip' | 'composer' | null> {
  const isYarn = /\byarn(?: install)?(?: --[\w-]+){0,20}\s*(?:$|[;|&}])/.test(command);
  const isComposer = /\bcomposer(?: -[\w-]+){0,20} i(?:nstall)?(?: -[\w-]+){0,20}\s*(?:$|[;|&}])/.test(
    command,
  );
  if (!isYarn && !isComposer && !command.includes('-m venv')) return null;
  const path = normalize(await folderOfCommand(command));
  const folder = path === '.' ? '' : path;
  if (isYarn) {
    const { yarnLoads } = await import('../../../adapters/survey/needed/yarn.ts');
    return (await yarnLoads(root, folder)) ? 'yarn' : null;
  }
  if (isComposer) {
    const { composerLoads } = await import('../../../adapters/survey/needed/composer.ts');
    return (await composerLoads(root, folder, command)) ? 'composer' : null;
  }
  const { pipLoads } = await import('../../../adapters/survey/needed/pip.ts');
  return (await pipLoads(root, folder, command)) ? 'pip' : null;
}

/** With a network, a command may download what this machine lacks. */
export function hasNetwork({ input: { settings } }: Session, { level }: Pick<Sandbox, 'level'>): boolean {
  return level === 'none' || settings.allowedDomains.length + settings.allowedPrivate.length > 0;
}
