/** Commands without namespaces: each has a launcher, which limits and ends it, and contains it by Landlock: native/launcher.c. */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { EnforcedLimits } from '../../domain/run/limits.ts';
import type { SandboxNetwork } from '../../ports/network.ts';
import type { Sandbox, SandboxCommand } from '../../ports.ts';
import { listenerPorts, serveConnection } from './bubblewrap/listeners.ts';
import { kernelLimits } from './command/limits.ts';
import type { PipeSource } from './command/output-pipe.ts';
import { identify, killDescendants } from './command/process-table.ts';
import { type ScriptPlace, scriptCommand } from './command/shell.ts';
import { spawnCommand, withTimeout } from './command/spawn.ts';
import {
  type CommandResources,
  type ContainedProcess,
  SandboxFailure,
  supervised,
} from './command/supervised.ts';
import { usageOf } from './command/usage.ts';
import { entriesOf, orMissing, statOf } from './host-files.ts';

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
export interface LaunchedSetup {
  /** With `none`, rules, kept files and a network have no effect. */
  readonly level: 'landlock' | 'none';
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
/** Of a file that says where a git dir is. */
export const MAX_DOT_GIT_BYTES = 8_000;
/** It ends thousands of processes one at a time, which takes a while on a busy machine. */
const KILL_MS = 30_000;

/** A sandbox in which a launcher starts each command. */
export function launchedSandbox(setup: LaunchedSetup): Sandbox {
  const reopen = setup.level === 'landlock' ? keepingModes(setup) : () => undefined;
  return supervised(setup, (command, own) => start(setup, command, own, reopen));
}

/**
 * Landlock lets commands change the modes of what belongs to their user, also outside. This puts them back that lead to the work tree and
 * to the run directory, and those of what is in it, before the runner finds itself locked out.
 */
function keepingModes({ root, files }: LaunchedSetup): () => void {
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

/** `reopen` is called when nothing of the command is left. */
async function start(
  setup: LaunchedSetup,
  command: SandboxCommand,
  { path, script, onBytes }: CommandResources,
  reopen: () => void,
): Promise<ContainedProcess> {
  const { talk, isStrict = false } = command;
  // Folders of this command alone.
  const own: Record<string, string> =
    setup.level === 'none' ? {} : { HOME: `${path}-home`, TMPDIR: `${path}-tmp` };
  await Promise.all(Object.values(own).map((folder) => mkdir(folder, { mode: 0o700 })));
  const orders = ordersFor(setup, command, script, Object.values(own));
  const line = scriptCommand({ program: setup.shell, name: setup.shell, isStrict }, script);
  const env = { ...setup.env, ...own, ...command.env };
  const { child, output, ended, said } = await spawnCommand(
    { pipes: setup.pipes, onBytes, talk, errorsFd: ERRORS_FD },
    (stdin, stdout, errors) => {
      // Whatever else was left open to us, the launcher closes.
      const channel = setup.network === null ? [] : (['ipc'] as const);
      const stdio: StdioOptions = [stdin, stdout, 'pipe', 'pipe', errors, ...channel];
      return spawn(setup.launcher, line, { stdio, env, cwd: '/', detached: true });
    },
  );
  const lifeline = child.stdio.at(ORDERS_FD) as Duplex;
  lifeline.on('error', () => lifeline.destroy());
  lifeline.write(orders);
  const launcher = identify(child.pid ?? 0);
  const disconnect = setup.network === null ? () => undefined : serve(setup.network, child);

  async function end(): Promise<void> {
    // It kills and reaps whatever it has started, and ends after that.
    lifeline.destroy();
    disconnect();
    const gone = ended.then(
      () => true,
      () => true,
    );
    if (await withTimeout(KILL_MS, gone)) return;
    // Its guard takes over, if it has one.
    if (launcher !== null) killDescendants(launcher);
    child.kill('SIGKILL');
    await gone;
  }

  return {
    exited: ended.then(async (exit) => {
      const text = await said();
      if (text !== STARTED && exit.signal === null)
        throw new SandboxFailure(text.replace(STARTED, '').trim() || 'The launcher said nothing.');
      return exit;
    }),
    output,
    usage: (enough) => (launcher === null ? null : usageOf(launcher, enough)),
    async killAll() {
      await end().finally(reopen);
      // Nothing of the command is left, and no other may enter them.
      await Promise.all(Object.values(own).map(removeFolder));
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
function ordersFor(
  setup: LaunchedSetup,
  { talk }: SandboxCommand,
  script: ScriptPlace,
  own: readonly string[],
): string {
  const { level, rules, root, folder, network, limits, kept } = setup;
  const all: LandlockRule[] = [
    ...rules,
    ...own.map((path): LandlockRule => ({ kind: 'w', path })),
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
    ...(talk === undefined ? [] : ['e']),
    ...(level === 'none' ? ['u'] : []),
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

/** SHA-256 of the static program that scripts/build-launcher.sh makes of native/launcher.c for each processor. */
const HASHES: Readonly<Record<'x64' | 'arm64', string>> = {
  x64: '9640de13ad4d0f14a9647768a406032d32950625db8f9b76466596364e4e2da6',
  arm64: 'f8de4cb37344add7b77f62c1a4dc5cadaf439a4e564eec72402275f5148ee350',
};

/** Beside the bundle, and where the sources have it. */
const PLACES = ['./launcher/', '../../../dist/launcher/'];

/** The launcher's path; null for another processor, or if its hash is not this version's. */
export function findLauncher(arch: string): string | null {
  const hash = arch === 'x64' || arch === 'arm64' ? HASHES[arch] : null;
  const paths = PLACES.map((place) => fileURLToPath(new URL(`${place}linux-${arch}`, import.meta.url)));
  return paths.find((path) => hash !== null && sha256(path) === hash) ?? null;
}

/** Why `findLauncher` has found none, as a sentence for people. */
export function whyNoLauncher(arch: string): string {
  return arch === 'x64' || arch === 'arm64'
    ? `${fileURLToPath(new URL(`./launcher/linux-${arch}`, import.meta.url))}, which starts commands in sandboxes, is missing or not of this version: install patchsmith again.`
    : `There is no sandbox for this processor (${arch}): it takes x86-64 or arm64.`;
}

function sha256(path: string): string | null {
  const bytes = orMissing(() => readFileSync(path));
  return bytes && createHash('sha256').update(bytes).digest('hex');
}
