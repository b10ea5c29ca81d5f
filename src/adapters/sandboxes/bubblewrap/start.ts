/** Commands in separate namespaces: no network, no other processes, and only the files of the work tree and the toolchains. */

import { type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { EnforcedLimits } from '../../../domain/run/limits.ts';
import type { SandboxNetwork } from '../../../ports/network.ts';
import type { Sandbox, SandboxCommand } from '../../../ports.ts';
import { kernelLimits } from '../command/limits.ts';
import type { PipeSource } from '../command/output-pipe.ts';
import { type ScriptPlace, scriptCommand } from '../command/shell.ts';
import { spawnCommand, withTimeout } from '../command/spawn.ts';
import { type CommandResources, type ContainedProcess, supervised } from '../command/supervised.ts';
import { statOf } from '../host-files.ts';
import { type Bind, type Mount, oursInside, type PinnedMount } from '../mount.ts';
import { containedIn, openStatus } from './contained.ts';
import { listenerPorts, NAMES_PORT, serveListeners } from './listeners.ts';
import { type Pins, ReplacedSource, whyChanged } from './pinned-mounts.ts';

/** What bubblewrap can do here: Ubuntu 22.04 still has 0.6, and containers refuse some of it. */
export interface BubblewrapFeatures {
  readonly disableUserns: boolean;
  readonly tmpfsSize: boolean;
  readonly hostname: boolean;
  /** Otherwise that of the machine is shown, read-only. Processes in it are of another user namespace, and closed. */
  readonly ownProc: boolean;
}

/** The number of process ids in the pid namespace of the process that opens it. */
export const PID_MAX = 'sys/kernel/pid_max';
/** The first port of its network namespace that takes no capability to listen at. */
export const FIRST_OPEN_PORT = 'sys/net/ipv4/ip_unprivileged_port_start';

/** What a sandbox has in place of a setting of the machine's kernel. */
export interface KernelSetting {
  /** Below /proc. */
  readonly name: typeof PID_MAX | typeof FIRST_OPEN_PORT;
  readonly value: string;
  /** A file that contains the value. */
  readonly path: string;
}

/** Everything known about the machine and decided about the view. */
export interface BubblewrapSetup {
  /** bubblewrap. */
  readonly program: string;
  readonly launcher: string;
  readonly features: BubblewrapFeatures;
  /** The host's shell that runs scripts. */
  readonly shell: string;
  /** The copies that are process 1 and run scripts, as seen inside. */
  readonly closed: { readonly init: string; readonly shell: string };
  /** The root as commands see it, and the folder of it in which they start. */
  readonly directory: string;
  readonly folder: string;
  readonly pins: Pins;
  /** Further mounts, as needed when a command is about to run. */
  readonly covers: (command: Pick<SandboxCommand, 'isSetup'>) => readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
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

const STDOUT = 1;
const STATUS_FD = 3;
/** As native/bubblewrap.c has it. */
const GATE_FD = 4;
const ARGS_FD = 5;
const ERRORS_FD = 6;
const CHANNEL_FD = 7;
/** That of the first kernel setting; the others follow. */
const SETTINGS_FD = 8;
/** How long the listeners may take from process 1 to us. */
const LISTEN_MS = 5_000;

/** A sandbox in which bubblewrap gives each command its own namespaces. */
export function bubblewrapSandbox(setup: BubblewrapSetup): Sandbox {
  const { isFiltered, features } = setup;
  const isLite = !features.ownProc || !features.hostname;
  const level = !isFiltered ? 'namespaces' : isLite ? 'namespaces-lite' : 'namespaces+seccomp';
  return supervised({ level, ...setup }, (command, own) => start(setup, command, own));
}

/** Has bubblewrap set up a sandbox, and lets the command begin in it. */
async function start(
  setup: BubblewrapSetup,
  command: SandboxCommand,
  { script, onBytes }: CommandResources,
): Promise<ContainedProcess> {
  const { env, talk } = command;
  const { pipes, network } = setup;
  const mounts = mountsFor(setup, command, script);
  const reports = await openStatus(pipes);
  // bubblewrap reads them to their ends, so every command needs descriptors of its own.
  const settings = setup.settings.map(({ path }) => openSync(path, 'r'));
  const args = [
    ...['before', String(SETTINGS_FD + settings.length), setup.program],
    ...bubblewrapArgs(setup, mounts, env !== undefined),
    ...['--', ...initLine(setup, command, script)],
  ];
  const started = await spawnCommand(
    { pipes, onBytes, talk, errorsFd: ERRORS_FD },
    (stdin, stdout, errors) => {
      const status = [reports.writer, 'pipe'] as const;
      const more = [
        env === undefined ? 'ignore' : 'pipe',
        errors,
        network === null ? 'ignore' : 'ipc',
      ] as const;
      const stdio: StdioOptions = [stdin, stdout, 'pipe', ...status, ...more, ...settings];
      // A direct child without a shell in between: bubblewrap dies with us, and everything in it with bubblewrap. The launcher becomes
      // bubblewrap, without the descriptors and capabilities that whoever started us left to us.
      return spawn(setup.launcher, args, { stdio, env: {} });
    },
  ).finally(() => {
    reports.closeWriter();
    for (const fd of settings) closeSync(fd);
  });
  const { child } = started;
  const status = reports.statusWith(child.stdio.at(GATE_FD) as Duplex);
  if (env !== undefined) giveVariables(child.stdio.at(ARGS_FD) as Duplex, env);
  const listeners = network && serveListeners(network, child, hasNames(setup));
  // What is mounted no longer changes, and nothing has run there yet.
  const begun = status.ready.then(async () => {
    const init = await status.init;
    const why = init === null ? null : whyChanged(mounts, init);
    if (why !== null) throw new ReplacedSource(why);
    if (listeners !== null && !(await withTimeout(LISTEN_MS, listeners.ready)))
      throw new Error('The listeners of a sandbox did not arrive.');
    status.begin();
  });
  const contained = containedIn(started, status, begun);
  return { ...contained, killAll: () => contained.killAll().finally(() => listeners?.close()) };
}

/** Whether the runner hears which names programs look up. */
export function hasNames({ network, settings }: Pick<BubblewrapSetup, 'network' | 'settings'>): boolean {
  return network !== null && settings.some(({ name }) => name === FIRST_OPEN_PORT);
}

/** Command lines can be read by everyone on the machine, so these variables are given by a descriptor. */
function giveVariables(more: Duplex, env: Readonly<Record<string, string>>): void {
  more.on('error', () => more.destroy());
  more.end(
    settingVariables(env)
      .map((argument) => `${argument}\0`)
      .join(''),
  );
}

function settingVariables(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]);
}

function mountsFor(
  { pins, covers }: BubblewrapSetup,
  command: SandboxCommand,
  script: ScriptPlace,
): PinnedMount[] {
  const file = fileOf(script);
  const isThere = (mount: PinnedMount) => {
    if (!('source' in mount) || statOf(mount.source) !== null) return true;
    if (mount.optional) return false;
    throw new ReplacedSource(`${mount.source} is gone. Put it back, or start a new run.`);
  };
  return [
    ...(file === null ? [] : [pins.once(file)]),
    ...pins.mounts.filter(isThere),
    ...pins.more(covers(command)),
  ];
}

function fileOf(script: ScriptPlace): Bind | null {
  return script.by === 'argument' ? null : oursInside(script.path, 'script');
}

/** Everything that is not mounted here does not exist inside. */
function bubblewrapArgs(
  { features, env, directory, settings }: BubblewrapSetup,
  mounts: readonly PinnedMount[],
  hasMore: boolean,
): string[] {
  const ofKernel = settings.flatMap(({ name }, index) => [
    ...['--file', String(SETTINGS_FD + index), join('/proc', name)],
  ]);
  return [
    // This includes the network: the namespace has only its own loopback interface.
    ...['--unshare-all', '--unshare-user'],
    ...(features.disableUserns ? ['--disable-userns'] : []),
    // The command line given here is the namespace's init: the kernel ends everything with it, and its exit code is bubblewrap's.
    '--as-pid-1',
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...(features.hostname ? ['--hostname', 'sandbox'] : []),
    ...['--clearenv', ...settingVariables(env)],
    ...(hasMore ? ['--args', String(ARGS_FD)] : []),
    ...mounts.flatMap((mount) => mountArgs(mount, features, ofKernel)),
    ...['--chdir', directory, '--json-status-fd', String(STATUS_FD)],
  ];
}

function mountArgs(mount: PinnedMount, features: BubblewrapFeatures, ofKernel: readonly string[]): string[] {
  switch (mount.kind) {
    case 'read-only':
      return ['--ro-bind', mount.source, mount.at];
    case 'read-write':
      return ['--bind', mount.source, mount.at];
    case 'link':
      return ['--symlink', mount.to, mount.at];
    case 'scratch':
      return [...(features.tmpfsSize ? ['--size', String(mount.bytes)] : []), '--tmpfs', mount.at];
    case 'processes':
      if (!features.ownProc) return ['--ro-bind', '/proc', '/proc'];
      // Read-only as a whole: for root, bubblewrap 0.8 leaves /proc/sys/kernel/core_pattern and similar files writable.
      return ['--proc', '/proc', ...ofKernel, '--remount-ro', '/proc'];
    case 'devices':
      return ['--dev', '/dev'];
    case 'closed':
      return ['--remount-ro', mount.at];
  }
}

/** The command line of process 1, as native/bubblewrap.c takes it. */
function initLine(setup: BubblewrapSetup, command: SandboxCommand, script: ScriptPlace): string[] {
  const { folder, isFiltered, shell, closed, limits, network } = setup;
  const { isStrict = false, talk } = command;
  const file = fileOf(script);
  const { fileBytes, openFiles, processes } = kernelLimits(limits);
  const place: ScriptPlace = file === null ? script : { by: 'file', path: file.at };
  return [
    ...[closed.init, 'init', CHANNEL_FD, talk === undefined ? STDOUT : ERRORS_FD],
    ...[fileBytes, openFiles, processes ?? 0, isFiltered ? 1 : 0, hasNames(setup) ? NAMES_PORT : 0],
    ...[network === null ? '' : listenerPorts(network).join(' '), folder],
    ...scriptCommand({ program: closed.shell, name: shell, isStrict }, place),
  ].map(String);
}
