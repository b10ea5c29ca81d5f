/** Commands in namespaces of their own: no network, no other process, no file but the work tree and the toolchains. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Sandbox } from '../../ports.ts';
import { type BubblewrapFeatures, bubblewrapArgs, type Mount } from './bubblewrap-args.ts';
import { oursInside } from './bubblewrap-mounts.ts';
import { readStatus } from './bubblewrap-status.ts';
import { orNullAfter } from './deadline.ts';
import { OutputCapture } from './output-capture.ts';
import type { OutputPipes } from './output-pipe.ts';
import { killProcess, waitUntilGone } from './process-table.ts';
import { type ContainedProcess, type ExitStatus, runToEnd } from './run-to-end.ts';
import { sandboxOf } from './sandbox-of.ts';
import { exitOf, shellCommand, withScript } from './shell.ts';

/** Everything that has been found out about the machine and decided about the view. */
export interface BubblewrapSetup {
  readonly program: string;
  readonly features: BubblewrapFeatures;
  readonly shell: string;
  /** Where commands start. */
  readonly directory: string;
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  /** bubblewrap's own environment. Commands do not inherit it, but can read it in /proc/1/environ. */
  readonly outerEnv: Readonly<Record<string, string>>;
  /** A folder of ours; it goes with the sandbox. */
  readonly files: string;
}

/** bubblewrap could not set up a sandbox; the message is its own. */
export class BubblewrapFailure extends Error {
  override readonly name = 'BubblewrapFailure';
}

/** How long bubblewrap may take to tell of its namespace's init, and the kernel to end it. */
const STATUS_MS = 5_000;
const KILL_MS = 10_000;
const COMPLAINT_MS = 500;
const STATUS_FD = 3;
/** As much of bubblewrap's own words as an error message carries. */
const COMPLAINT_LIMITS = { head: 2_000, tail: 0 };

export function bubblewrapSandbox(setup: BubblewrapSetup): Sandbox {
  const { shell, mounts, files } = setup;
  return sandboxOf('namespaces', files, (command, { path, pipes }) =>
    withScript(command.script, path, (script) => {
      if (script.by === 'argument') {
        return runToEnd(
          (onBytes) => start(setup, { pipes, mounts, line: shellCommand(shell, script), onBytes }),
          command,
        );
      }
      const mount = oursInside(script.path, 'script');
      const line = shellCommand(shell, { by: 'file', path: mount.at });
      return runToEnd(
        (onBytes) => start(setup, { pipes, mounts: [...mounts, mount], line, onBytes }),
        command,
      );
    }),
  );
}

interface Start {
  readonly pipes: OutputPipes;
  readonly mounts: readonly Mount[];
  /** The command line inside. */
  readonly line: readonly string[];
  readonly onBytes: (bytes: Uint8Array) => void;
}

async function start(
  setup: BubblewrapSetup,
  { pipes, mounts, line, onBytes }: Start,
): Promise<ContainedProcess> {
  const { features, env, directory } = setup;
  const args = bubblewrapArgs({ features, mounts, env, directory, statusFd: STATUS_FD, command: line });
  const { output, writer, closeWriter } = await pipes.open(onBytes);
  // A direct child and no shell between: bubblewrap dies with us, and all in it with bubblewrap.
  const child = spawn(setup.program, args, {
    stdio: ['ignore', writer, 'pipe', 'pipe'],
    env: { ...setup.outerEnv },
  });
  closeWriter();
  const complaint = new OutputCapture(COMPLAINT_LIMITS);
  const words = child.stdio[2] as Readable;
  words.on('data', (chunk: Buffer) => complaint.write(chunk));
  const status = readStatus(child.stdio[STATUS_FD] as Readable);

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
    async killAll() {
      // The init first: with it the kernel kills the whole namespace, sessions and orphans included.
      const init = await orNullAfter(STATUS_MS, status.init);
      if (init !== null) killProcess(init);
      child.kill('SIGKILL');
      if (init !== null) await waitUntilGone(init, KILL_MS);
    },
  };
}
