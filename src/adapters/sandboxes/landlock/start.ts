/**
 * Commands in Landlock domains, without namespaces. Each has a launcher, which starts, brokers and ends it: native/launcher.c.
 */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { EnforcedLimits } from '../../../domain/run/limits.ts';
import type { SandboxNetwork } from '../../../ports/network.ts';
import type { Sandbox, SandboxCommand } from '../../../ports.ts';
import { listenerPorts, serveConnection } from '../bubblewrap/listeners.ts';
import { kernelLimits } from '../command/limits.ts';
import { OutputCapture } from '../command/output-capture.ts';
import type { PipeSource } from '../command/output-pipe.ts';
import { asFirstVictim, identify } from '../command/process-table.ts';
import { openLifecycle } from '../command/sandbox-lifecycle.ts';
import { exitOf, type ScriptPlace, scriptCommand, withScript } from '../command/shell.ts';
import {
  type ContainedProcess,
  type ExitStatus,
  SandboxFailure,
  superviseCommand,
} from '../command/supervise-command.ts';
import { converse } from '../command/talk.ts';
import { usageInNamespace } from '../command/usage.ts';
import { withTimeout } from '../command/with-timeout.ts';
import { entriesOf, statOf } from '../host-files.ts';

/** A place that commands may use, and how (`rights_of` in native/launcher.c). Without numbers, it is whatever is there. */
export interface LandlockRule {
  readonly kind: 'l' | 'r' | 'x' | 'w' | 'd';
  readonly path: string;
  readonly dev?: bigint;
  readonly ino?: bigint;
}

/** A small file of the work tree that every command leaves as it was: a `.git` that says where the git dir is. */
export interface PutBackFile {
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
}

/** What the commands of one sandbox are started with. */
export interface LandlockSetup {
  readonly launcher: string;
  readonly shell: string;
  readonly root: string;
  /** Commands start in this folder of it. */
  readonly folder: string;
  readonly rules: readonly LandlockRule[];
  readonly kept: () => readonly PutBackFile[];
  /** What commands reach at the ports that it serves. */
  readonly network: SandboxNetwork | null;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: EnforcedLimits;
  readonly writable: readonly string[];
  /** A private folder, removed with the sandbox. */
  readonly files: string;
  readonly pipes: PipeSource;
}

const ORDERS_FD = 3;
const ERRORS_FD = 4;
/** What the launcher says once the command runs. */
const STARTED = 'started\n';
const WORDS_MS = 2_000;
/** Of a file that says where a git dir is. */
export const MAX_DOT_GIT_BYTES = 8_000;
/** It ends thousands of processes one at a time, which takes a while on a busy machine. */
const KILL_MS = 30_000;

/** A sandbox in which a launcher contains each command. */
export function landlockSandbox(setup: LandlockSetup): Sandbox {
  const reopen = keepingModes(setup);
  return openLifecycle({ level: 'landlock', ...setup }, async (command, { path, pipes, watchdog }) => {
    const own = { home: `${path}-home`, tmp: `${path}-tmp` };
    try {
      await Promise.all(Object.values(own).map((folder) => mkdir(folder, { mode: 0o700 })));
      return await withScript(command.script, path, (script) =>
        superviseCommand(
          (onBytes) => start(setup, { command, pipes, script, own, onBytes }),
          command,
          watchdog,
        ),
      );
    } finally {
      reopen();
      // Nothing of the command is left, and no other may enter them.
      await Promise.all(Object.values(own).map(removeFolder));
    }
  });
}

/**
 * Landlock lets commands change the modes of what belongs to their user, also outside. This puts them back that lead to the work tree and
 * to the run directory, and those of what is in it, before the runner finds itself locked out.
 */
function keepingModes({ root, files }: LandlockSetup): () => void {
  const runDirectory = dirname(dirname(files));
  const inside = (entriesOf(runDirectory) ?? []).map(({ name }) => join(runDirectory, name));
  const paths = [...withAbove(files), ...inside, ...withAbove(root)];
  const modes = new Map(paths.map((path) => [path, statOf(path)?.mode]));
  return () => {
    for (const [path, mode] of modes) {
      const now = statOf(path)?.mode;
      if (mode !== undefined && now !== undefined && now !== mode) chmodSync(path, mode & 0o7777);
    }
  };
}

/** A folder and all above it, the highest first. */
function withAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [...withAbove(above), folder];
}

interface Start {
  readonly command: Pick<SandboxCommand, 'isStrict' | 'env' | 'talk'>;
  readonly pipes: PipeSource;
  readonly script: ScriptPlace;
  /** Folders of this command alone. */
  readonly own: { readonly home: string; readonly tmp: string };
  readonly onBytes: (bytes: Uint8Array) => void;
}

async function start(setup: LandlockSetup, given: Start): Promise<ContainedProcess> {
  const { command, pipes, script, own, onBytes } = given;
  const { talk, isStrict = false } = command;
  const orders = ordersFor(setup, given);
  const merged = talk === undefined ? await pipes.open(onBytes) : null;
  // Whatever else was left open to us, the launcher closes.
  const stdio: StdioOptions = [
    ...(merged === null ? (['pipe', 'pipe'] as const) : (['ignore', merged.writer] as const)),
    ...(['pipe', 'pipe', merged === null ? 'pipe' : 'ignore'] as const),
    ...(setup.network === null ? [] : (['ipc'] as const)),
  ];
  const line = scriptCommand({ program: setup.shell, name: setup.shell, isStrict }, script);
  const env = { ...setup.env, HOME: own.home, TMPDIR: own.tmp, ...command.env };
  const child = asFirstVictim(() => spawn(setup.launcher, line, { stdio, env, cwd: '/', detached: true }));
  merged?.closeWriter();
  const ended = exitOf(child);
  const words = new OutputCapture({ head: 4_000, tail: 1_000 });
  const said = child.stdio[2] as Readable;
  said.on('data', (chunk: Buffer) => words.write(chunk));
  const lifeline = child.stdio.at(ORDERS_FD) as Duplex;
  lifeline.on('error', () => lifeline.destroy());
  lifeline.write(orders);
  const launcher = identify(child.pid ?? 0);
  const disconnect = setup.network === null ? () => undefined : serve(setup.network, child);
  const streams = () => ({
    stdin: child.stdio[0] as Writable,
    stdout: child.stdio[1] as Readable,
    stderr: child.stdio.at(ERRORS_FD) as Readable,
  });
  return {
    exited: ended.then(async (exit): Promise<ExitStatus> => {
      if (!said.closed) await withTimeout(WORDS_MS, once(said, 'close'));
      const text = words.excerpt().head;
      if (text !== STARTED && exit.signal === null)
        throw new SandboxFailure(text.replace(STARTED, '').trim() || 'The launcher said nothing.');
      return exit;
    }),
    output: merged === null && talk !== undefined ? converse(talk, streams()) : (merged?.output as Readable),
    usage: (look) => (launcher === null ? null : usageInNamespace(launcher, look)),
    async killAll() {
      // It kills and reaps whatever it has started, and ends after that.
      lifeline.destroy();
      disconnect();
      const gone = ended.catch(() => null);
      if (
        (await withTimeout(
          KILL_MS,
          gone.then(() => true),
        )) === true
      )
        return;
      // Its broker takes over.
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/**
 * Serves what the launcher hands over (`give` in native/launcher.c): the other ends of connections that the command has made.
 * Nothing listens, so no other program of the machine gets in.
 */
function serve(network: SandboxNetwork, launcher: ChildProcess): () => void {
  const connections = new Set<Socket>();
  launcher.channel?.unref();
  launcher.on('message', ({ to }: { to: number }, handle) => {
    const connection = handle as Socket;
    connection.on('error', () => connection.destroy());
    if (launcher.connected) serveConnection(network, to, connection, connections);
    else connection.destroy();
  });
  return () => {
    if (launcher.connected) launcher.disconnect();
    for (const connection of connections) connection.destroy();
  };
}

/** In the format of `read_orders` in native/launcher.c. */
function ordersFor(setup: LandlockSetup, { command, script, own }: Start): string {
  const { rules, root, folder, network, limits, kept } = setup;
  const all: LandlockRule[] = [
    ...rules,
    ...Object.values(own).map((path): LandlockRule => ({ kind: 'w', path })),
    ...(script.by === 'file' ? [{ kind: 'r', path: script.path } as const] : []),
  ];
  const { fileBytes, openFiles, processes } = kernelLimits(limits);
  const lines = [
    ...all.map(({ kind, path, dev = 0n, ino = 0n }) => `${kind}${dev}:${ino}:${path}`),
    `c${root}`,
    `f${folder}`,
    ...(network === null ? [] : listenerPorts(network)).map((port) => `p${port}`),
    `b${fileBytes}`,
    `o${openFiles}`,
    `n${processes ?? 0}`,
    ...(command.talk === undefined ? [] : ['e']),
    // Last: their texts are of the work tree, and no order may follow one.
    ...kept().flatMap(({ path, text }) => [`g${path}`, `k${text}`]),
  ];
  // A NUL ends an order.
  if (lines.some((line) => line.includes('\0'))) throw new Error('A path of the sandbox contains a NUL.');
  return [...lines, ''].map((one) => `${one}\0`).join('');
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 1 }).catch(() => undefined);
}
