/** Commands in separate namespaces: no network, no other processes, and only the files of the work tree and the toolchains. */

import { type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Sandbox, SandboxCommand } from '../../../ports.ts';
import { kernelLimits } from '../command/limits.ts';
import type { PipeSource } from '../command/output-pipe.ts';
import { asFirstVictim } from '../command/process-table.ts';
import { openLifecycle } from '../command/sandbox-lifecycle.ts';
import { exitOf, type ScriptPlace, scriptCommand, withScript } from '../command/shell.ts';
import { type ContainedProcess, superviseCommand } from '../command/supervise-command.ts';
import { converse } from '../command/talk.ts';
import { withTimeout } from '../command/with-timeout.ts';
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
  return openLifecycle({ level, ...setup }, (command, { path, pipes, watchdog }) =>
    withScript(command.script, path, (script) =>
      superviseCommand((onBytes) => start(setup, { command, pipes, script, onBytes }), command, watchdog),
    ),
  );
}

/** What one sandbox is set up for. */
interface Start {
  readonly command: Pick<SandboxCommand, 'isSetup' | 'isStrict' | 'env' | 'talk'>;
  readonly pipes: PipeSource;
  readonly script: ScriptPlace;
  readonly onBytes: (bytes: Uint8Array) => void;
}

/** Has bubblewrap set up a sandbox, and lets the command begin in it. */
async function start(setup: BubblewrapSetup, given: Start): Promise<ContainedProcess> {
  const { command } = given;
  const mounts = mountsFor(setup, given);
  const { child, merged, status } = await spawnBubblewrap(setup, given, mounts);
  const gate = gateOf(child.stdio.at(GATE_FD) as Duplex);
  if (command.env !== undefined) giveVariables(child.stdio.at(ARGS_FD) as Duplex, command.env);
  const words = child.stdio[2] as Readable;
  const ended = exitOf(child);
  const output =
    merged.talk === null
      ? merged.output
      : converse(merged.talk, {
          stdin: child.stdio[0] as Writable,
          stdout: child.stdio[1] as Readable,
          stderr: child.stdio.at(ERRORS_FD) as Readable,
        });
  const listeners = setup.network && serveListeners(setup.network, child, hasNames(setup));
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
  const contained = containedIn({ child, status, ended, words, output, allowed });
  return { ...contained, killAll: () => contained.killAll().finally(() => listeners?.close()) };
}

/** Whether the runner hears which names programs look up. */
export function hasNames({ network, settings }: Pick<BubblewrapSetup, 'network' | 'settings'>): boolean {
  return network !== null && settings.some(({ name }) => name === FIRST_OPEN_PORT);
}

/**
 * A direct child without a shell in between: bubblewrap dies with us, and everything in it with bubblewrap. The launcher becomes
 * bubblewrap, without the descriptors and capabilities that whoever started us left to us.
 */
async function spawnBubblewrap(
  setup: BubblewrapSetup,
  { command, pipes, script, onBytes }: Start,
  mounts: readonly PinnedMount[],
) {
  const { talk } = command;
  const status = await openStatus(pipes);
  const merged = talk === undefined ? { talk: null, ...(await pipes.open(onBytes)) } : { talk };
  // bubblewrap reads them to their ends, so every command needs descriptors of its own.
  const settings = setup.settings.map(({ path }) => openSync(path, 'r'));
  const stdio: StdioOptions = [
    ...(merged.talk === null ? (['ignore', merged.writer] as const) : (['pipe', 'pipe'] as const)),
    'pipe',
    status.writer,
    'pipe',
    command.env === undefined ? 'ignore' : 'pipe',
    talk === undefined ? 'ignore' : 'pipe',
    setup.network === null ? 'ignore' : 'ipc',
    ...settings,
  ];
  const after = SETTINGS_FD + settings.length;
  const args = ['before', String(after), setup.program, ...argsFor(setup, command, script, mounts)];
  const child = asFirstVictim(() => spawn(setup.launcher, args, { stdio, env: { ...setup.outerEnv } }));
  status.closeWriter();
  if (merged.talk === null) merged.closeWriter();
  for (const fd of settings) closeSync(fd);
  return { child, merged, status };
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

function mountsFor({ pins, covers }: BubblewrapSetup, { command, script }: Start): PinnedMount[] {
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
  command: Start['command'],
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
