/** Commands in separate namespaces: no network, no other processes, and only the files of the work tree and the toolchains. */

import { type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import type { Sandbox, SandboxCommand } from '../../../ports.ts';
import { kernelLimits } from '../command/limits.ts';
import { type ScriptPlace, scriptCommand } from '../command/shell.ts';
import { spawnCommand } from '../command/spawn.ts';
import {
  type CommandResources,
  type ContainedProcess,
  supervised,
  withTimeout,
} from '../command/supervised.ts';
import { statOf } from '../host-files.ts';
import { type Bind, bubblewrapArgs, FIRST_OPEN_PORT, type PinnedMount } from './args.ts';
import { containedIn, openStatus } from './contained.ts';
import { listenerPorts, NAMES_PORT, serveListeners } from './listeners.ts';
import { oursInside } from './mounts.ts';
import { ReplacedSource, whyChanged } from './pinned-mounts.ts';
import type { BubblewrapSetup } from './setup.ts';

const STDOUT = 1;
const STATUS_FD = 3;
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
  const status = await openStatus(pipes);
  // bubblewrap reads them to their ends, so every command needs descriptors of its own.
  const settings = setup.settings.map(({ path }) => openSync(path, 'r'));
  const args = [
    ...['before', String(SETTINGS_FD + settings.length), setup.program],
    ...argsFor(setup, command, script, mounts),
  ];
  const started = await spawnCommand(
    { pipes, onBytes, talk, errorsFd: ERRORS_FD },
    (stdin, stdout, errors) => {
      const more = [
        env === undefined ? 'ignore' : 'pipe',
        errors,
        network === null ? 'ignore' : 'ipc',
      ] as const;
      const stdio: StdioOptions = [stdin, stdout, 'pipe', status.writer, 'pipe', ...more, ...settings];
      // A direct child without a shell in between: bubblewrap dies with us, and everything in it with bubblewrap. The launcher becomes
      // bubblewrap, without the descriptors and capabilities that whoever started us left to us.
      return spawn(setup.launcher, args, { stdio, env: { ...setup.outerEnv } });
    },
  );
  status.closeWriter();
  for (const fd of settings) closeSync(fd);
  const { child } = started;
  const gate = gateOf(child.stdio.at(GATE_FD) as Duplex);
  if (env !== undefined) giveVariables(child.stdio.at(ARGS_FD) as Duplex, env);
  const listeners = network && serveListeners(network, child, hasNames(setup));
  // What is mounted no longer changes, and nothing has run there yet.
  const allowed = gate.reported.then(async () => {
    const init = await status.init;
    const why = init === null ? null : whyChanged(mounts, init);
    if (why !== null) throw new ReplacedSource(why);
    if (listeners !== null && !(await withTimeout(LISTEN_MS, listeners.ready)))
      throw new Error('The listeners of a sandbox did not arrive.');
    gate.open();
  });
  allowed.catch(() => undefined);
  const contained = containedIn({ ...started, status, allowed });
  return { ...contained, killAll: () => contained.killAll().finally(() => listeners?.close()) };
}

/** Whether the runner hears which names programs look up. */
export function hasNames({ network, settings }: Pick<BubblewrapSetup, 'network' | 'settings'>): boolean {
  return network !== null && settings.some(({ name }) => name === FIRST_OPEN_PORT);
}

/**
 * `open` lets the command begin once process 1 has reported that it exists. Only from then on does that die with bubblewrap, and
 * bubblewrap with us: if either died earlier, the command would run on without limits. If we die, process 1 gets no answer and exits.
 */
function gateOf(gate: Duplex): { reported: Promise<void>; open: () => void } {
  const reported = new Promise<void>((resolve) => gate.once('data', () => resolve()));
  // It ended before it started, as the exit code shows.
  gate.once('error', () => gate.destroy());
  return { reported, open: () => void reported.then(() => gate.end('\n')) };
}

/** Command lines can be read by everyone on the machine, so these variables are given by a descriptor. */
function giveVariables(more: Duplex, env: Readonly<Record<string, string>>): void {
  more.on('error', () => more.destroy());
  more.end(
    Object.entries(env)
      .flatMap(([name, value]) => ['--setenv', name, value])
      .map((argument) => `${argument}\0`)
      .join(''),
  );
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

function argsFor(
  setup: BubblewrapSetup,
  command: SandboxCommand,
  script: ScriptPlace,
  mounts: readonly PinnedMount[],
): string[] {
  const { features, env, directory, folder, isFiltered, settings, shell, shells, limits, network } = setup;
  const file = fileOf(script);
  const { isStrict = false } = command;
  const most = kernelLimits(limits);
  const line = scriptCommand(
    { program: shells.script, name: shell, isStrict },
    file === null ? script : { by: 'file', path: file.at },
  );
  return bubblewrapArgs({
    features,
    mounts,
    env,
    directory,
    statusFd: STATUS_FD,
    argsFd: command.env === undefined ? null : ARGS_FD,
    settings: settings.map(({ name }, index) => ({ name, fd: SETTINGS_FD + index })),
    // As native/bubblewrap.c takes them.
    command: [
      ...[shells.init, 'init', GATE_FD, CHANNEL_FD, command.talk === undefined ? STDOUT : ERRORS_FD],
      ...[
        most.fileBytes,
        most.openFiles,
        most.processes ?? 0,
        isFiltered ? 1 : 0,
        hasNames(setup) ? NAMES_PORT : 0,
      ],
      ...[network === null ? '' : listenerPorts(network).join(' '), folder, ...line],
    ].map(String),
  });
}
