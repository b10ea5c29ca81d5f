/** What commands are to see of the machine, whichever sandbox they run in. */

import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execPath, getuid } from 'node:process';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { FEW_TRIES, ONE_TRY, proxyVariables } from './bubblewrap/proxy-clients.ts';
import type { OpenCaches } from './caches/open-caches.ts';
import { realPathOf } from './host-files.ts';
import { CACHES_INSIDE, HOME_INSIDE } from './mount.ts';
import type { SandboxOptions } from './options.ts';
import { cacheVariables, commandEnvironment } from './visible/environment.ts';
import { findToolchains, searchPath, type Toolchains } from './visible/toolchains.ts';
import { type UserMount, userMounts } from './visible/user-mounts.ts';

/** The parts of the machine that commands will see. */
export interface MachineView {
  readonly toolchains: Toolchains;
  readonly added: readonly UserMount[];
  readonly caches: OpenCaches;
  /** What is unusual about them and the work tree, as sentences for people. */
  readonly warnings: readonly Warning[];
}

const NO_CACHES: OpenCaches = {
  ...{ mounts: [], variables: {}, shown: [], warnings: [] },
  close: async () => undefined,
};

/** What commands are to see of this machine, or which option asks for something that they may not. `files` is a private folder. */
export async function examine(
  options: SandboxOptions,
  files: string,
): Promise<({ status: 'ok' } & MachineView) | { status: 'refused'; reason: string }> {
  const { root, shownAs = root, sandboxGitDir, hostEnv, scratchDir, caches: wanted } = options;
  const boundaries = {
    homes: bothNames(hostEnv.HOME === undefined ? [] : [hostEnv.HOME]),
    roots: bothNames([root, shownAs]),
    offLimits: bothNames([scratchDir, sandboxGitDir.gitDir, dirname(sandboxGitDir.objects)]),
  };
  const rules = { ...boundaries, programs: bothNames(searchPath(hostEnv)) };
  const asked = userMounts(options.mounts ?? [], rules);
  if (asked.status === 'refused') return { status: 'refused', reason: asked.problem };
  const added = asked.mounts;
  const writable = added.flatMap((mount) => (mount.writable ? [mount.at, mount.source] : []));
  const toolchains = findToolchains({
    env: hostEnv,
    execPath,
    // What commands can write to needs no mount of its own, and no link in it decides what they see.
    boundaries: { ...boundaries, roots: [...boundaries.roots, ...writable] },
  });
  const warnings = warningsAbout(root, boundaries.homes);
  if (wanted === undefined) return { status: 'ok', toolchains, added, caches: NO_CACHES, warnings };
  // Loaded only when needed.
  const { openCaches } = await import('./caches/open-caches.ts');
  const opened = await openCaches({
    ...{ wanted, hostEnv, rules, added },
    isOffline: options.isNetworkClosed ?? !options.network,
    folder: join(files, 'caches'),
    home: HOME_INSIDE,
    shownAt: CACHES_INSIDE,
  });
  if (opened.status === 'refused') return opened;
  const { caches } = opened;
  return { status: 'ok', toolchains, added, caches, warnings: [...caches.warnings, ...warnings] };
}

function warningsAbout(root: string, homes: readonly string[]): Warning[] {
  const warnings: Warning[] = [];
  const { uid } = statSync(root);
  if (getuid?.() === 0 && uid !== 0) {
    warnings.push(
      warning(
        'WARN_TREE_OF_OTHERS',
        `The work tree belongs to user ${uid}: commands run as root without root's privileges, so they may be unable to write there.`,
      ),
    );
  }
  if (bothNames([root]).some((path) => homes.includes(path))) {
    warnings.push(
      warning('WARN_TREE_IS_HOME', 'The work tree is the home folder: commands can read everything in it.'),
    );
  }
  return warnings;
}

/** Each path as given and as resolved. */
function bothNames(paths: readonly string[]): string[] {
  const resolved = paths.map(realPathOf);
  return [...new Set([...paths, ...resolved.filter((path) => path !== null)])];
}

/** The variables of commands that see these places, and find their home folder and git's configuration there. */
export function variablesOf(
  { hostEnv, network, isNetworkClosed }: SandboxOptions,
  { toolchains, added, caches }: MachineView,
  inside: { readonly home: string; readonly gitConfig: string },
): Record<string, string> {
  const mounted = cacheVariables(
    hostEnv,
    added.map(({ at }) => at),
  );
  const env = commandEnvironment({
    hostEnv,
    path: toolchains.path,
    ...inside,
    toolchains: { ...toolchains.variables, ...mounted, ...caches.variables },
  });
  const proxied = network ? proxyVariables(network.services.map(({ name }) => name)) : {};
  // Two values of one variable.
  const maven = [env.MAVEN_OPTS, proxied.MAVEN_OPTS].filter(Boolean).join(' ');
  const tries = isNetworkClosed ? ONE_TRY : network && FEW_TRIES;
  return { ...env, ...proxied, ...tries, ...(maven === '' ? {} : { MAVEN_OPTS: maven }) };
}
