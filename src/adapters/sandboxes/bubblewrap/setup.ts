/** The setup of a run's sandboxes: what commands see of the machine, and how they start. */

import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { EnforcedLimits } from '../../../domain/run/limits.ts';
import type { SandboxNetwork } from '../../../ports/network.ts';
import type { SandboxCommand } from '../../../ports.ts';
import type { OutputPipes, PipeSource } from '../command/output-pipe.ts';
import { findShell } from '../command/shell.ts';
import type { SandboxOptions } from '../options.ts';
import { cacheVariables, commandEnvironment } from '../visible/environment.ts';
import { GIT_CONFIG_INSIDE } from '../visible/etc-folder.ts';
import type { BubblewrapFeatures, KernelSetting, Mount } from './args.ts';
import { HOME_INSIDE, type MachineView, mountsOf, oursInside } from './mounts.ts';
import { nestedCovers } from './nested-covers.ts';
import { type Pins, pinMounts } from './pinned-mounts.ts';
import { FEW_TRIES, ONE_TRY, proxyVariables, tunnelProgram } from './proxy-clients.ts';

/**
 * Process 1 of a sandbox and the shell that runs a script: copies that can be executed but not read, so that the kernel prevents
 * anything inside from tracing them or taking their descriptors. An attacker who controlled process 1 could outlive the command and
 * forge its exit code; and the lines after a hostile program in the same script must remain reliable.
 */
interface ClosedShells {
  readonly mount: Mount;
  /** The launcher, which is process 1, as seen inside. */
  readonly init: string;
  /** The shell that runs scripts, as seen inside. */
  readonly script: string;
}

/** Everything known about the machine and decided about the view. */
export interface BubblewrapSetup {
  readonly program: string;
  readonly launcher: string;
  readonly features: BubblewrapFeatures;
  /** The host's shell that runs scripts; its copy is among `shells`. */
  readonly shell: string;
  readonly shells: ClosedShells;
  /** The root as commands see it, and the folder of it in which they start. */
  readonly directory: string;
  readonly folder: string;
  readonly pins: Pins;
  /** Further mounts, as needed when a command is about to run. */
  readonly covers: (command: Pick<SandboxCommand, 'isSetup'>) => readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  /** bubblewrap's own environment. Commands do not inherit it. */
  readonly outerEnv: Readonly<Record<string, string>>;
  /** Commands have the system call filter. */
  readonly isFiltered: boolean;
  readonly settings: readonly KernelSetting[];
  readonly limits: EnforcedLimits;
  /** Paths on the disks that commands can write to. */
  readonly writable: readonly string[];
  /** What commands reach; null for nothing at all. */
  readonly network: SandboxNetwork | null;
  /** A private folder, removed with the sandbox. */
  readonly files: string;
  /** Made in `files`. */
  readonly pipes: PipeSource;
}

/** The machine, and what the sandboxes are made by and in. */
export interface SandboxPlace extends MachineView {
  readonly program: string;
  readonly files: string;
  readonly pipes: OutputPipes;
  readonly launcher: string;
}

/** What is decided by trying. */
export type UnprovenSetup = Omit<BubblewrapSetup, 'features' | 'settings' | 'limits' | 'isFiltered'>;

/** The setup, and all mounts of the machine in it; or why one of them may not be. */
export async function setupFor(
  options: SandboxOptions,
  place: SandboxPlace,
): Promise<
  { status: 'ok'; setup: UnprovenSetup; mounts: readonly Mount[] } | { status: 'refused'; reason: string }
> {
  const { root, shownAs = root, folder = '', sandboxGitDir, network = null } = options;
  const { program, launcher, files, pipes, caches } = place;
  const { mounts, variables } = await mountsOf(options, place, files);
  const shell = findShell();
  const shells = await closedShells(shell, launcher, files);
  const closed = [join(root, '.git'), dirname(sandboxGitDir.objects)];
  const pinned = pinMounts(
    [shells.mount, ...(network ? [await tunnelProgram(files)] : []), ...mounts],
    closed,
  );
  if (pinned.status === 'refused') return pinned;
  const setup = {
    program,
    launcher,
    pipes,
    shell,
    shells,
    directory: shownAs,
    folder,
    pins: pinned.pins,
    covers: await coversOf(options, files),
    env: {
      ...variablesOf(options, place, { home: HOME_INSIDE, gitConfig: GIT_CONFIG_INSIDE }),
      ...variables,
    },
    outerEnv: {},
    network,
    writable: [root, sandboxGitDir.gitDir, ...(caches.mounts.length > 0 ? [files] : [])],
    files,
  };
  return { status: 'ok', setup, mounts };
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

/** The mounts that keep commands away from the repositories in the work tree, once these are known. */
async function coversOf(
  { root, shownAs: at = root, sandboxGitDir }: SandboxOptions,
  files: string,
): Promise<BubblewrapSetup['covers']> {
  const emptyFolder = join(files, 'empty-folder');
  await mkdir(emptyFolder, { mode: 0o755 });
  return ({ isSetup = false }) => {
    const nested = isSetup
      ? sandboxGitDir.nested.map((one) => ({ ...one, readOnly: false }))
      : sandboxGitDir.nested;
    return nestedCovers({ root, at, nested, emptyFolder });
  };
}

/**
 * When a process executes a file that its user may not read, the kernel makes it non-dumpable (`would_dump` in fs/exec.c),
 * and then refuses ptrace, pidfd_getfd, process_vm_readv, /proc/PID/mem and the like to everyone without CAP_SYS_PTRACE.
 * Commands have no capabilities, not even root's. Programs that the shell executes are ordinary processes again, so
 * debuggers work on them.
 *
 * `files` is a private folder; `shell` is what runs scripts.
 */
async function closedShells(shell: string, launcher: string, files: string): Promise<ClosedShells> {
  const folder = join(files, 'shells');
  await mkdir(folder, { mode: 0o755 });
  const mount = oursInside(folder, 'shells');
  await Promise.all(
    [launcher, shell].map(async (source) => {
      const copy = join(folder, basename(source));
      await copyFile(source, copy);
      await chmod(copy, 0o111);
    }),
  );
  return { mount, init: join(mount.at, basename(launcher)), script: join(mount.at, basename(shell)) };
}
