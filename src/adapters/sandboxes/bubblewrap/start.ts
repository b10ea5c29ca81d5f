/** Starts bubblewrap: a sandbox for one command, which starts on request. */

import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { SandboxCommand } from '../../../ports.ts';
import type { ForeignDescriptors } from '../command/descriptors.ts';
import type { PipeSource } from '../command/output-pipe.ts';
import { asFirstVictim, isAlive } from '../command/process-table.ts';
import { exitOf, initCommand, type ScriptPlace, scriptCommand } from '../command/shell.ts';
import type { ContainedProcess } from '../command/supervise-command.ts';
import { converse } from '../command/talk.ts';
import { withTimeout } from '../command/with-timeout.ts';
import { statOf } from '../host-files.ts';
import { type Bind, bubblewrapArgs, type PinnedMount } from './args.ts';
import { containedIn, readStatus, STATUS_MS } from './contained.ts';
import { oursInside } from './mounts.ts';
import { ReplacedSource, whyChanged } from './pinned-mounts.ts';
import type { BubblewrapSetup } from './setup.ts';

const STATUS_FD = 3;
const FILTER_FD = 4;
const GATE_FD = 5;
const NUMBERS_FD = 6;
const PORT_FD = 7;
const ARGS_FD = 8;
const ERRORS_FD = 9;
/** What one sandbox is set up for. */
export interface Start {
  readonly command: Pick<SandboxCommand, 'isSetup' | 'isStrict' | 'env' | 'talk'>;
  readonly pipes: PipeSource;
  readonly foreign: ForeignDescriptors;
  /** `later`: a file that will contain the command line (`lateLine`) before the command begins. */
  readonly script: ScriptPlace | { readonly by: 'later'; readonly path: string };
  readonly onBytes: (bytes: Uint8Array) => void;
}

/** A sandbox whose command has not begun. */
export interface Waiting {
  readonly contained: ContainedProcess;
  /** Lets the command begin, as soon as the sandbox is set up. */
  begin(): void;
  /** Whether a command can still begin. Known when it is set up, or has died. */
  isReady(): Promise<boolean>;
  /** Whether it keeps this process alive. It does by default. */
  hold(isHeld: boolean): void;
}

/** Has bubblewrap set up a sandbox, whose process 1 waits for `begin`. */
export async function setUp(setup: BubblewrapSetup, start: Start): Promise<Waiting> {
  const { command } = start;
  const mounts = mountsFor(setup, start);
  const { child, merged } = await spawnBubblewrap(setup, start, mounts);
  const gate = gateOf(child.stdio.at(GATE_FD) as Duplex);
  if (command.env !== undefined) giveVariables(child.stdio.at(ARGS_FD) as Duplex, command.env);
  const words = child.stdio[2] as Readable;
  const status = readStatus(child.stdio[STATUS_FD] as Readable);
  const ended = exitOf(child);
  const output =
    merged.talk === null
      ? merged.output
      : converse(merged.talk, {
          stdin: child.stdio[0] as Writable,
          stdout: child.stdio[1] as Readable,
          stderr: child.stdio.at(ERRORS_FD) as Readable,
        });
  // What is mounted no longer changes, and nothing has run there yet.
  const allowed = gate.reported.then(async () => {
    const init = await status.init;
    const why = init === null ? null : whyChanged(mounts, init);
    if (why !== null) throw new ReplacedSource(why);
  });
  allowed.catch(() => undefined);
  const handles: readonly unknown[] = [child, output, ...child.stdio];
  return {
    contained: containedIn({ child, status, ended, words, output, allowed }),
    begin: () => void allowed.then(gate.open, () => undefined),
    async isReady() {
      const settled = Promise.race([gate.reported, ended.catch(() => undefined)]).then(() => status.init);
      const found = await withTimeout(STATUS_MS, settled);
      return found !== null && isAlive(found);
    },
    hold(isHeld) {
      for (const handle of handles as readonly (Handle | null)[])
        isHeld ? handle?.ref?.() : handle?.unref?.();
    },
  };
}

/** A direct child without a shell in between: bubblewrap dies with us, and everything in it with bubblewrap. */
async function spawnBubblewrap(
  setup: BubblewrapSetup,
  { command, pipes, foreign, script, onBytes }: Start,
  mounts: readonly PinnedMount[],
) {
  const [program = '', ...args] = [
    ...setup.devices.before,
    setup.program,
    ...argsFor(setup, command, script, mounts),
  ];
  const { talk } = command;
  const merged = talk === undefined ? { talk: null, ...(await pipes.open(onBytes)) } : { talk };
  // bubblewrap reads them to their ends, so every command needs descriptors of its own.
  const files = [setup.filter, setup.numbers?.path, setup.relay?.firstPort];
  const [filterFd, numbersFd, portFd] = files.map((path) => (path == null ? null : openSync(path, 'r')));
  const variables = command.env === undefined ? ('ignore' as const) : ('pipe' as const);
  const stdio = foreign.withNothingElse([
    ...(merged.talk === null ? (['ignore', merged.writer] as const) : (['pipe', 'pipe'] as const)),
    'pipe',
    'pipe',
    filterFd ?? 'ignore',
    'pipe',
    numbersFd ?? 'ignore',
    portFd ?? 'ignore',
    ...(variables === 'pipe' || talk !== undefined ? [variables] : []),
    ...(talk === undefined ? [] : (['pipe'] as const)),
  ]);
  const child = asFirstVictim(() => spawn(program, args, { stdio, env: { ...setup.outerEnv } }));
  if (merged.talk === null) merged.closeWriter();
  for (const fd of [filterFd, numbersFd, portFd]) if (fd != null) closeSync(fd);
  return { child, merged };
}

/** Of Node's streams, only sockets can do this. */
interface Handle {
  readonly ref?: () => unknown;
  readonly unref?: () => unknown;
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

function fileOf(script: Start['script']): Bind | null {
  return script.by === 'argument' ? null : oursInside(script.path, 'script');
}

function argsFor(
  setup: BubblewrapSetup,
  command: Start['command'],
  script: Start['script'],
  mounts: readonly PinnedMount[],
): string[] {
  const { features, env, directory, filter, numbers, relay, shells, limits } = setup;
  const file = fileOf(script);
  const line =
    script.by === 'later'
      ? { file: oursInside(script.path, 'script').at }
      : lineOf(setup, command, file === null ? script : { by: 'file', path: file.at });
  return bubblewrapArgs({
    features,
    mounts,
    env,
    directory,
    statusFd: STATUS_FD,
    argsFd: command.env === undefined ? null : ARGS_FD,
    filterFd: filter === null ? null : FILTER_FD,
    numbersFd: numbers === null ? null : NUMBERS_FD,
    portFd: relay?.firstPort == null ? null : PORT_FD,
    command: initCommand(shells.init, GATE_FD, {
      line,
      limits,
      before: relay?.start ?? null,
      errors: command.talk === undefined ? null : ERRORS_FD,
    }),
  });
}

/** The command line that runs a script inside. */
export function lineOf(
  { shell, shells }: BubblewrapSetup,
  { isStrict = false }: Pick<SandboxCommand, 'isStrict'>,
  script: ScriptPlace,
): string[] {
  return scriptCommand({ program: shells.script, name: shell, isStrict }, script);
}
