/** Opens a bubblewrap sandbox: examines the machine, decides what commands see of it, and has the result proven. */

import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { arch, execPath, getuid } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { isWithin } from '../../../domain/changes/path.ts';
import type { EnforcedLimits } from '../../../domain/run/command-limits.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { CacheSurroundings, CachesResult } from '../caches/open-caches.ts';
import { enforcedLimits, processNumbers } from '../command/limits.ts';
import { OutputPipes } from '../command/output-pipe.ts';
import { findProgram, findShell } from '../command/shell.ts';
import { realPathOf, statOf } from '../host-files.ts';
import { type OpenedSandbox, ownFolder, type SandboxOptions, type ShownPlace } from '../options.ts';
import { commandEnvironment, gitConfig } from '../visible/environment.ts';
import { GIT_CONFIG_INSIDE } from '../visible/etc-folder.ts';
import { cacheVariables } from '../visible/package-caches.ts';
import { findToolchains, searchPath } from '../visible/toolchains.ts';
import { userMounts } from '../visible/user-mounts.ts';
import { type Mount, PID_MAX } from './args.ts';
import { closedShells } from './closed-shells.ts';
import { CACHES_INSIDE, HOME_INSIDE, mountsOf, type View } from './mounts.ts';
import { nestedCovers } from './nested-covers.ts';
import { proveNewest } from './prove.ts';
import { FEW_TRIES, ONE_TRY, relayTo, TUNNEL_INSIDE } from './relay.ts';
import { seccompProgram } from './seccomp.ts';
import type { BubblewrapSetup } from './start.ts';

/** A sandbox by bubblewrap, or what prevents it and how to fix that. */
export async function openBubblewrap(options: SandboxOptions): Promise<OpenedSandbox> {
  const { root, shownAs: at = root, sandboxGitDir, hostEnv } = options;
  const program = findProgram('bwrap');
  if (program === null) {
    const { NOT_INSTALLED } = await import('./unavailable.ts');
    return { status: 'unavailable', reason: NOT_INSTALLED };
  }
  if (isLink(join(root, '.git'))) {
    return {
      status: 'unavailable',
      reason: `${join(root, '.git')} is a symbolic link: the sandbox cannot cover it. Make it a folder, or a file that says gitdir.`,
    };
  }

  const files = await ownFolder(options);
  const pipes = new OutputPipes(files);
  // Their program runs while the machine is examined.
  const prepared = pipes.prepare();
  prepared.catch(() => undefined);
  const { boundaries, toolchains } = lookAround(options);
  const added = userMounts(options.mounts ?? [], { ...boundaries, programs: searchPath(hostEnv) });
  await prepared;
  if (added.status === 'refused') {
    pipes.close();
    return { status: 'refused', reason: added.problem };
  }
  const tunnel = options.proxySocket ? TUNNEL_INSIDE : null;
  const opened = await cachesOf(options, {
    rules: { ...boundaries, programs: searchPath(hostEnv) },
    added: added.mounts,
    folder: join(files, 'caches'),
  });
  if (opened.status === 'refused') {
    pipes.close();
    return opened;
  }
  const { caches } = opened;
  const view = {
    root,
    at,
    sandboxGitDir,
    files,
    gitConfig: gitConfig(at, tunnel),
    tunnel,
    toolchains: toolchains.mounts,
    added: added.mounts,
    caches: caches.mounts,
  };
  const { mounts, variables } = await mountsOf(view);
  const relay = options.proxySocket ? await relayTo(options.proxySocket, files, execPath) : null;
  const tries = options.isNetworkClosed ? ONE_TRY : relay === null ? {} : FEW_TRIES;
  const proxied = { ...relay?.variables, ...tries };
  const mounted = cacheVariables(
    hostEnv,
    added.mounts.map((mount) => mount.at),
  );
  const env = commandEnvironment({
    hostEnv,
    path: toolchains.path,
    home: HOME_INSIDE,
    gitConfig: GIT_CONFIG_INSIDE,
    toolchains: { ...toolchains.variables, ...mounted, ...caches.variables },
  });
  const shell = findShell();
  const setup = {
    program,
    pipes,
    shell,
    shells: await closedShells(shell, files),
    directory: at,
    mounts: [...(relay?.mounts ?? []), ...mounts],
    covers: await coversOf(view),
    env: { ...env, ...variables, ...withBoth('MAVEN_OPTS', mounted, proxied) },
    outerEnv: {},
    relay,
    limits: enforcedLimits(options.limits, true),
    keepsSpare: options.keepsSpare ?? false,
    writable: [root, sandboxGitDir.gitDir, ...(caches.mounts.length > 0 ? [files] : [])],
    files,
  };
  const filter = await filterFile(files);
  const numbers = await numbersFile(files, setup.limits);
  const warnings = [...caches.warnings, ...(await warningsAbout(root, boundaries.homes))];
  const shown = [...shownPlaces(mounts, [files, sandboxGitDir.gitDir]), ...caches.shown];
  const lookup = (await options.lookup?.()) ?? null;
  const proving = proveNewest(
    { ...setup, lookup, numbers, limits: enforcedLimits(options.limits, true, numbers !== null) },
    filter,
  ).then((proven) =>
    // The watch counts alone where bubblewrap may not set the number.
    proven.status === 'unavailable' && proven.reason.includes(PID_MAX)
      ? proveNewest({ ...setup, lookup, numbers: null }, filter)
      : proven,
  );
  // By then the command is running.
  await setImmediate();
  options.onProving?.();
  const proven = await proving;
  if (proven.status === 'unavailable') {
    pipes.close();
    return proven;
  }
  if (proven.unfiltered !== null) {
    warnings.push(
      warning(
        'WARN_SANDBOX_UNFILTERED',
        `The sandbox has no system call filter (${proven.unfiltered}); its level is namespaces.`,
      ),
    );
  }
  const { sandbox, lookedUp } = proven;
  const close = () => sandbox.close().finally(caches.close);
  return { status: 'ok', sandbox: { ...sandbox, close }, warnings, shown, lookedUp };
}

const NO_CACHES = { mounts: [], variables: {}, shown: [], warnings: [], close: async () => undefined };

/** Loaded only when needed. */
async function cachesOf(
  { caches: wanted, hostEnv, proxySocket, isNetworkClosed }: SandboxOptions,
  places: Pick<CacheSurroundings, 'rules' | 'added' | 'folder'>,
): Promise<CachesResult> {
  if (wanted === undefined) return { status: 'ok', caches: NO_CACHES };
  const { openCaches } = await import('../caches/open-caches.ts');
  const isOffline = isNetworkClosed ?? !proxySocket;
  return openCaches({ ...places, wanted, isOffline, hostEnv, home: HOME_INSIDE, shownAt: CACHES_INSIDE });
}

/** `more`, with the two values of `name` combined if both have one. */
function withBoth(
  name: string,
  some: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return some[name] && more[name] ? { ...more, [name]: `${some[name]} ${more[name]}` } : more;
}

/** The mounts that keep commands away from the repositories in the work tree, once these are known. */
async function coversOf({ root, at, sandboxGitDir, files }: View): Promise<BubblewrapSetup['covers']> {
  const emptyFolder = join(files, 'empty-folder');
  await mkdir(emptyFolder, { mode: 0o755 });
  return ({ isSetup = false }) => {
    const nested = isSetup
      ? sandboxGitDir.nested.map((one) => ({ ...one, readOnly: false }))
      : sandboxGitDir.nested;
    return nestedCovers({ root, at, nested, emptyFolder });
  };
}

/** Null if the system call filter cannot be built for this processor. */
async function filterFile(files: string): Promise<string | null> {
  const program = seccompProgram(arch);
  if (program === null) return null;
  const path = join(files, 'seccomp');
  await writeFile(path, program, { mode: 0o600 });
  return path;
}

/** Null if the process numbers of a namespace cannot be limited here. */
async function numbersFile(files: string, limits: EnforcedLimits): Promise<BubblewrapSetup['numbers']> {
  const count = processNumbers(limits);
  if (count === null) return null;
  const path = join(files, 'process-numbers');
  await writeFile(path, `${count}`, { mode: 0o600 });
  return { count, path };
}

/** The toolchains that commands may see, and the home folders that they may not. */
function lookAround({ root, shownAs = root, sandboxGitDir, hostEnv, scratchDir }: SandboxOptions) {
  const homes = bothNames(hostEnv.HOME === undefined ? [] : [hostEnv.HOME]);
  const boundaries = {
    homes,
    roots: bothNames([root, shownAs]),
    offLimits: bothNames([scratchDir, sandboxGitDir.gitDir, dirname(sandboxGitDir.objects)]),
  };
  return { boundaries, toolchains: findToolchains({ env: hostEnv, execPath, boundaries }) };
}

/** Places of the machine, without the single files of our own and of /etc. */
function shownPlaces(mounts: readonly Mount[], ours: readonly string[]): ShownPlace[] {
  return mounts.flatMap((mount) => {
    if (mount.kind !== 'read-only' && mount.kind !== 'read-write') return [];
    const isOurs = ours.some((place) => isWithin(mount.source, place));
    return isOurs || [CACHES_INSIDE, '/etc'].some((place) => isWithin(mount.at, place))
      ? []
      : [{ path: mount.at, writable: mount.kind === 'read-write' }];
  });
}

async function warningsAbout(root: string, homes: readonly string[]): Promise<Warning[]> {
  const warnings: Warning[] = [];
  const { uid } = await stat(root);
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

function isLink(path: string): boolean {
  return statOf(path)?.isSymbolicLink() ?? false;
}
