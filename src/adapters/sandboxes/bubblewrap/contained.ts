/** A command in a bubblewrap that runs: what bubblewrap reports, how it ends, and how it is ended. */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { OutputCapture } from '../command/output-capture.ts';
import type { OutputPipe, PipeSource } from '../command/output-pipe.ts';
import {
  identify,
  killDescendants,
  killProcess,
  type ProcessId,
  waitUntilGone,
} from '../command/process-table.ts';
import type { ExitStatus } from '../command/spawn.ts';
import { type ContainedProcess, SandboxFailure, untilClosed, withTimeout } from '../command/supervised.ts';
import { usageInNamespace } from '../command/usage.ts';

/** How long bubblewrap may take to report its namespace's init. */
const STATUS_MS = 5_000;
/** The kernel ends a thousand processes one at a time, which takes a while on a busy machine. */
const KILL_MS = 30_000;
/** What init does not take with it in this time is killed one by one, and again as often. */
const SWEEP_MS = 250;
const COMPLAINT_MS = 500;
/** How much of bubblewrap's own output an error message includes. */
const COMPLAINT_LIMITS = { head: 2_000, tail: 0 };

/** A bubblewrap that runs, and what it says of itself. */
export interface RunningBubblewrap {
  readonly child: ChildProcess;
  readonly status: BubblewrapStatus;
  readonly ended: Promise<ExitStatus>;
  readonly output: Readable;
  /** Rejects if it must not begin. */
  readonly allowed: Promise<void>;
}

/** The command as what supervises it sees it. */
export function containedIn({ child, status, ended, output, allowed }: RunningBubblewrap): ContainedProcess {
  // What it says when it cannot set up the sandbox.
  const words = child.stdio[2] as Readable;
  const complaint = new OutputCapture(COMPLAINT_LIMITS);
  words.on('data', (chunk: Buffer) => complaint.write(chunk));
  let hasBegun = false;
  const begun = allowed.then(() => {
    hasBegun = true;
  });
  let init: ProcessId | null = null;
  status.init.then((found) => {
    init = found;
  });

  async function exited(): Promise<ExitStatus> {
    const exit = await ended;
    if (exit.exitCode === null || (hasBegun && (await status.commandStarted))) return exit;
    await withTimeout(COMPLAINT_MS, once(words, 'close'));
    const said = complaint.excerpt().head.trim();
    throw new SandboxFailure(said || `bubblewrap ended with exit code ${exit.exitCode}.`);
  }

  /** Whether bubblewrap ended by itself, which means that nothing of the namespace is left. */
  async function endsWithInit(init: ProcessId): Promise<boolean> {
    const gone = ended.catch((): ExitStatus => ({ exitCode: null, signal: 'SIGKILL' }));
    const deadline = performance.now() + KILL_MS;
    while (performance.now() < deadline) {
      const exit = await withTimeout(SWEEP_MS, gone);
      if (exit !== null) return exit.signal === null;
      // In the middle of thousands that fork, init waits for minutes for the locks of the memory that it shares with them.
      killDescendants(init);
    }
    return false;
  }

  return {
    exited: Promise.race([begun.then(() => exited()), exited()]),
    output,
    usage: (look) => (init === null ? null : usageInNamespace(init, look)),
    async killAll() {
      const init = await withTimeout(STATUS_MS, status.init);
      if (init !== null) {
        // Killing init makes the kernel kill the whole namespace, including other sessions and orphans. bubblewrap ends when
        // it has reaped init, which the kernel permits only once nothing else is left.
        killProcess(init);
        if (await endsWithInit(init)) return;
      }
      // Its other half, which it may not have reported, would wait forever.
      const outer = identify(child.pid ?? 0);
      if (outer !== null) killDescendants(outer);
      child.kill('SIGKILL');
      if (init !== null) await waitUntilGone(init, KILL_MS);
    },
  };
}

/** The status, and the descriptor for bubblewrap. */
type OpenStatus = BubblewrapStatus & Pick<OutputPipe, 'writer' | 'closeWriter'>;

/** What bubblewrap reports on its status descriptor, one JSON document per line. */
interface BubblewrapStatus {
  /**
   * The namespace's init, by its process id outside; null if bubblewrap ended without creating one, or it is gone already.
   */
  readonly init: Promise<ProcessId | null>;
  /** Resolves when bubblewrap has ended: whether the command was started at all. */
  readonly commandStarted: Promise<boolean>;
}

/**
 * Has bubblewrap report into `pipe`, whose bytes reach `onBytes`. Commands cannot write to it: neither they nor the namespace's init
 * have the descriptor.
 */
export async function openStatus(pipes: PipeSource): Promise<OpenStatus> {
  let text = '';
  let hasLine = () => {};
  const firstLine = new Promise<void>((resolve) => {
    hasLine = resolve;
  });
  const { output, writer, closeWriter } = await pipes.open((bytes) => {
    text += Buffer.from(bytes).toString('latin1');
    if (text.includes('\n')) hasLine();
  });
  const ended = untilClosed(output);
  ended.then(hasLine);
  return {
    writer,
    closeWriter,
    init: firstLine.then(() => identify(Number(/"child-pid": *(\d+)/.exec(text)?.[1] ?? 0))),
    // The document with the exit code is missing if the setup failed before the command was executed.
    commandStarted: ended.then(() => /"exit-code":/.test(text)),
  };
}
