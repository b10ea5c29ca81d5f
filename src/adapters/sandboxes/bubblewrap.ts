/** Commands in namespaces of their own: no network, no other process, no file but the work tree and the toolchains. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { EnforcedLimits } from '../../domain/command-limits.ts';
import type { Sandbox } from '../../ports.ts';
import { type BubblewrapFeatures, bubblewrapArgs, type Mount } from './bubblewrap-args.ts';
import { oursInside } from './bubblewrap-mounts.ts';
import { readStatus } from './bubblewrap-status.ts';
import { orNullAfter } from './deadline.ts';
import type { ForeignDescriptors } from './descriptors.ts';
import { OutputCapture } from './output-capture.ts';
import type { OutputPipes } from './output-pipe.ts';
import { asFirstVictim, killProcess, type ProcessId, waitUntilGone } from './process-table.ts';
import type { Relay } from './relay.ts';
import { type ContainedProcess, type ExitStatus, runToEnd } from './run-to-end.ts';
import { sandboxOf } from './sandbox-of.ts';
import { exitOf, shellCommand, withScript } from './shell.ts';
import { usageInNamespace } from './usage.ts';

/** Everything that has been found out about the machine and decided about the view. */
export interface BubblewrapSetup {
  readonly program: string;
  readonly features: BubblewrapFeatures;
  readonly shell: string;
  /** Where commands start. */
  readonly directory: string;
  readonly mounts: readonly Mount[];
  /** Further mounts, as they are to be when a command is about to run. */
  readonly covers: () => readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  /** bubblewrap's own environment. Commands do not inherit it, but can read it in /proc/1/environ. */
  readonly outerEnv: Readonly<Record<string, string>>;
  /** The file with the system call filter; null where there is none for this machine. */
  readonly filter: string | null;
  readonly limits: EnforcedLimits;
  /** Paths on the disks that commands write to. */
  readonly writable: readonly string[];
  /** The way to the network; null where there is none. */
  readonly relay: Relay | null;
  /** A folder of ours; it goes with the sandbox. */
  readonly files: string;
  /** Made in `files`. */
  readonly pipes: OutputPipes;
}

/** bubblewrap could not set up a sandbox; the message is its own. */
export class BubblewrapFailure extends Error {
  override readonly name = 'BubblewrapFailure';
}

/** How long bubblewrap may take to tell of its namespace's init, and the kernel to end it. */
const STATUS_MS = 5_000;
/** The kernel ends a thousand processes one after the other, and a busy machine takes its time with it. */
const KILL_MS = 30_000;
const COMPLAINT_MS = 500;
const STATUS_FD = 3;
const FILTER_FD = 4;
/** As much of bubblewrap's own words as an error message carries. */
const COMPLAINT_LIMITS = { head: 2_000, tail: 0 };

export function bubblewrapSandbox(setup: BubblewrapSetup): Sandbox {
  const { shell, limits } = setup;
  const level = setup.filter === null ? 'namespaces' : 'namespaces+seccomp';
  return sandboxOf({ level, ...setup }, (command, { path, ...own }) =>
    withScript(command.script, path, (script) => {
      const mounts = [...setup.mounts, ...setup.covers()];
      if (script.by === 'argument') {
        return runToEnd(
          (onBytes) => start(setup, { ...own, mounts, line: shellCommand(shell, script, limits), onBytes }),
          command,
          own.watchdog,
        );
      }
      const mount = oursInside(script.path, 'script');
      const line = shellCommand(shell, { by: 'file', path: mount.at }, limits);
      return runToEnd(
        (onBytes) => start(setup, { ...own, mounts: [mount, ...mounts], line, onBytes }),
        command,
        own.watchdog,
      );
    }),
  );
}

interface Start {
  readonly pipes: OutputPipes;
  readonly foreign: ForeignDescriptors;
  readonly mounts: readonly Mount[];
  /** The command line inside. */
  readonly line: readonly string[];
  readonly onBytes: (bytes: Uint8Array) => void;
}

async function start(
  setup: BubblewrapSetup,
  { pipes, foreign, mounts, line, onBytes }: Start,
): Promise<ContainedProcess> {
  const { features, env, directory, filter, relay } = setup;
  const args = bubblewrapArgs({
    features,
    mounts,
    env,
    directory,
    statusFd: STATUS_FD,
    filterFd: filter === null ? null : FILTER_FD,
    command: relay?.around(line) ?? line,
  });
  const { output, writer, closeWriter } = await pipes.open(onBytes);
  // bubblewrap reads it to its end, so every command needs a descriptor of its own.
  const filterFd = filter === null ? null : openSync(filter, 'r');
  // A direct child and no shell between: bubblewrap dies with us, and all in it with bubblewrap.
  const stdio = foreign.withNothingElse(['ignore', writer, 'pipe', 'pipe', filterFd ?? 'ignore']);
  const child = asFirstVictim(() => spawn(setup.program, args, { stdio, env: { ...setup.outerEnv } }));
  closeWriter();
  if (filterFd !== null) closeSync(filterFd);
  const complaint = new OutputCapture(COMPLAINT_LIMITS);
  const words = child.stdio[2] as Readable;
  words.on('data', (chunk: Buffer) => complaint.write(chunk));
  const status = readStatus(child.stdio[STATUS_FD] as Readable);
  let init: ProcessId | null = null;
  status.init.then((found) => {
    init = found;
  });

  async function exited(): Promise<ExitStatus> {
    const exit = await exitOf(child);
    if (exit.exitCode === null || (await status.commandStarted)) return exit;
    await orNullAfter(COMPLAINT_MS, once(words, 'close'));
    const said = complaint.excerpt().head.trim();
    throw new BubblewrapFailure(said || `bubblewrap ended with exit code ${exit.exitCode}.`);
  }

  return {
    exited: exited(),
    output,
    usage: (enough) => (init === null ? null : usageInNamespace(init, enough)),
    async killAll() {
      // The init first: with it the kernel kills the whole namespace, sessions and orphans included.
      const init = await orNullAfter(STATUS_MS, status.init);
      if (init !== null) killProcess(init);
      child.kill('SIGKILL');
      if (init !== null) await waitUntilGone(init, KILL_MS);
    },
  };
}
