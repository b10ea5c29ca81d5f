/** A command in a bubblewrap that runs: what bubblewrap and process 1 report, how it ends, and how it is ended. */

import type { Duplex } from 'node:stream';
import type { OutputPipe, PipeSource } from '../command/output-pipe.ts';
import {
  identify,
  killDescendants,
  killProcess,
  type ProcessId,
  waitUntilGone,
} from '../command/process-table.ts';
import { type ExitStatus, type StartedCommand, withTimeout } from '../command/spawn.ts';
import { type ContainedProcess, SandboxFailure } from '../command/supervised.ts';
import { usageOf } from '../command/usage.ts';

/** How long bubblewrap may take to report its namespace's init. */
const STATUS_MS = 5_000;
/** The kernel ends a thousand processes one at a time, which takes a while on a busy machine. */
const KILL_MS = 30_000;
/** What init does not take with it in this time is killed one by one, and again as often. */
const SWEEP_MS = 250;

/** What is reported from a sandbox before its command begins. */
export interface SandboxStatus {
  /** The namespace's init, by its process id outside; null if bubblewrap ended without creating one, or it is gone already. */
  readonly init: Promise<ProcessId | null>;
  /** Resolves when init has been set up; never if it ends before. */
  readonly ready: Promise<void>;
  /**
   * Lets the command begin. Only from `ready` on does init die with bubblewrap, and bubblewrap with us: if either died earlier, the
   * command would run on without limits. If we die, init gets no answer and exits.
   */
  begin(): void;
}

/** What bubblewrap reports into, before it is started. */
interface StatusPipe extends Pick<OutputPipe, 'writer' | 'closeWriter'> {
  /** Both reports; `gate` is the socket of process 1 (native/bubblewrap.c). */
  statusWith(gate: Duplex): SandboxStatus;
}

/**
 * Opens a pipe of `pipes` for what bubblewrap reports: a socket would end it by SIGPIPE if its runner has died, and its other half,
 * which it has not let go on yet, would wait forever. Commands can write to neither: bubblewrap has closed the pipe in the sandbox,
 * and process 1 closes the socket before it starts one.
 */
export async function openStatus(pipes: PipeSource): Promise<StatusPipe> {
  let text = '';
  let tell = (_pid: number) => {};
  const reported = new Promise<number>((resolve) => {
    tell = resolve;
  });
  const { output, writer, closeWriter } = await pipes.open((bytes) => {
    text += Buffer.from(bytes).toString('latin1');
    const found = /"child-pid": *(\d+)[^\d]/.exec(text);
    if (found !== null) tell(Number(found[1]));
  });
  output.on('error', () => output.destroy()).once('close', () => tell(0));
  return {
    writer,
    closeWriter,
    statusWith(gate) {
      // It ended before it started, as the exit code shows.
      gate.on('error', () => gate.destroy());
      return {
        init: reported.then(identify),
        ready: new Promise((resolve) => gate.once('data', () => resolve())),
        begin: () => void gate.end('\n'),
      };
    },
  };
}

/** The command as what supervises it sees it. `begun` rejects if it must not begin. */
export function containedIn(
  { child, ended, output, said }: StartedCommand,
  status: SandboxStatus,
  begun: Promise<void>,
): ContainedProcess {
  let hasBegun = false;
  const allowed = begun.then(() => {
    hasBegun = true;
  });
  let init: ProcessId | null = null;
  status.init.then((found) => {
    init = found;
  });

  async function exited(): Promise<ExitStatus> {
    const exit = await ended;
    if (exit.exitCode === null || hasBegun) return exit;
    throw new SandboxFailure((await said()).trim() || `bubblewrap ended with exit code ${exit.exitCode}.`);
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
    exited: Promise.race([allowed.then(exited), exited()]),
    output,
    usage: (look) => (init === null ? null : usageOf(init, look)),
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
