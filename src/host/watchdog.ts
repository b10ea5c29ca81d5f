/**
 * A thread that ends the process when the main thread cannot: signals and timers are handled there, so a computation that
 * does not return would outlast both. It acts only once the process has been asked to end, by a signal or its deadline.
 */

import type { EventEmitter } from 'node:events';
import { closeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { StopSignal } from '../domain/run/exit-code.ts';
import type { Interruption } from '../domain/run/limits.ts';

/** Watches the main thread from now on. */
export interface Watchdog {
  /** Asks the process to end after this many milliseconds, at most 2^31 - 1, unless the returned function is called before. */
  askIn(delayMs: number): () => void;
}

/** Starts a watchdog. `onStuck` is called in the middle of the computation that is in the way, and has to end the process. */
export type StartWatchdog = (onStuck: (asked: Interruption) => void) => Watchdog;

/** From the main thread: an answer, or a deadline that is set, or with null taken back. */
type ToThread = { answer: true } | { deadline: number; delayMs: number | null };

/** Emitted by `process` in the main thread, with an `Interruption`. */
const STUCK = 'patchsmith.stuck';

/** Emitted by `process` in the main thread when it is stuck and no signal could be seen meanwhile. */
const STALLED = 'patchsmith.stalled';

/** For the entry files: `process` is their own. */
export const startWatchdog: StartWatchdog = (onStuck) => {
  // Without the environment it gets neither secrets nor what NODE_OPTIONS would load.
  const thread = new Worker(`(${watch})(${JSON.stringify(STUCK)}, ${JSON.stringify(STALLED)})`, {
    eval: true,
    env: {},
    execArgv: [],
    stdin: false,
  });
  const send = (message: ToThread) => thread.postMessage(message);
  thread.on('message', () => send({ answer: true }));
  (process as EventEmitter).once(STUCK, (asked: Interruption) => {
    // There Node.js reports that it waits for a debugger, which is the thread, and the outcome is to be the last line.
    process.once('exit', () => closeSync(2));
    onStuck(asked);
  });
  (process as EventEmitter).on(STALLED, untilItAnswers);
  // A machine without room for another thread: the main thread still obeys as long as it is not stuck.
  thread.on('error', () => {});
  thread.unref();
  let deadlines = 0;
  return {
    askIn(delayMs) {
      const deadline = deadlines++;
      send({ deadline, delayMs });
      return () => send({ deadline, delayMs: null });
    },
  };
};

/** Lets signals do what they do by default, which is to end the process, until the main thread can handle them again. */
function untilItAnswers(): void {
  const kept = StopSignal.options.map((signal) => [signal, process.listeners(signal)] as const);
  for (const [signal] of kept) process.removeAllListeners(signal);
  setImmediate(() => {
    for (const [signal, listeners] of kept) for (const listener of listeners) process.on(signal, listener);
  });
}

/** Runs in the thread, as source text: it can refer to nothing outside itself but types. */
function watch(stuckEvent: string, stalledEvent: string): void {
  /** How often the main thread is asked. A stopped process stops asking, so that the pause does not count. */
  const TICK_MS = 250;
  /** Unanswered questions after which a busy main thread is interrupted: three seconds. */
  const BUSY_TICKS = 12;
  /** Busy means having used this much processor time meanwhile, in hundredths of a second: not waiting for a disk. */
  const BUSY_CPU = 100;
  /** Unanswered questions after which the process is killed: fifteen seconds. */
  const KILL_TICKS = 60;
  const SIGNALS: Record<number, StopSignal> = { 1: 'SIGHUP', 2: 'SIGINT', 15: 'SIGTERM' };

  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  const fs = process.getBuiltinModule('node:fs');
  const deadlines = new Map<number, NodeJS.Timeout>();
  let asked: Interruption | null = null;
  let unanswered = 0;
  let cpuAtAnswer = 0;
  let hasInterrupted = false;
  let seesSignals = true;
  let isStalled = false;

  parentPort?.on('message', (message: ToThread) => {
    if ('answer' in message) {
      unanswered = 0;
      cpuAtAnswer = cpuOfMain();
      isStalled = false;
      return;
    }
    const { deadline, delayMs } = message;
    clearTimeout(deadlines.get(deadline));
    deadlines.delete(deadline);
    if (delayMs !== null) deadlines.set(deadline, setTimeout(ask, delayMs, { cause: 'deadline' }));
    else if (deadlines.size === 0 && asked?.cause === 'deadline') asked = null;
  });

  try {
    for (const number of Object.keys(SIGNALS).map(Number)) onSignal(number, () => ask(signalled(number)));
  } catch {
    // Node.js 24 lets no thread see signals: there the next one ends a process that has not answered for a while.
    seesSignals = false;
  }
  setInterval(tick, TICK_MS);

  function signalled(number: number): Interruption {
    return { cause: 'signal', signal: SIGNALS[number] ?? 'SIGTERM' };
  }

  function ask(by: Interruption): void {
    if (asked !== null) return;
    asked = by;
    unanswered = 0;
    cpuAtAnswer = cpuOfMain();
  }

  function tick(): void {
    if (asked === null && seesSignals) return;
    if (asked !== null && unanswered >= KILL_TICKS) kill(asked);
    if (unanswered >= BUSY_TICKS && cpuOfMain() - cpuAtAnswer >= BUSY_CPU) interrupt(asked);
    unanswered += 1;
    parentPort?.postMessage('still there?');
  }

  /** Processor time of the main thread: its fields utime and stime of proc_pid_stat(5). */
  function cpuOfMain(): number {
    try {
      const stat = fs.readFileSync(`/proc/self/task/${process.pid}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(fields[11]) + Number(fields[12]);
    } catch {
      // Without /proc, or a descriptor for it, only being killed is left.
      return 0;
    }
  }

  /** A debugger can run code in the main thread in the middle of any other, also of a regular expression. */
  function interrupt(by: Interruption | null): void {
    if (by === null ? isStalled : hasInterrupted) return;
    if (by === null) isStalled = true;
    else hasInterrupted = true;
    const event = JSON.stringify(by === null ? stalledEvent : stuckEvent);
    try {
      const { Session } = process.getBuiltinModule('node:inspector');
      const session = new Session();
      session.connectToMainThread();
      session.post('Runtime.evaluate', { expression: `process.emit(${event}, ${JSON.stringify(by)})` }, () =>
        session.disconnect(),
      );
    } catch {
      // A Node.js without an inspector.
    }
  }

  function kill(by: Interruption): void {
    const why = by.cause === 'deadline' ? 'the deadline' : by.signal;
    const end = () => process.kill(process.pid, 'SIGKILL');
    const line = `patchsmith: killed by its own watchdog (exit 137): still stuck 15 s after ${why}. A run that has started can be continued with patchsmith resume.\n`;
    fs.write(2, line, end);
    // A reader that does not read must not hold this up.
    setTimeout(end, TICK_MS);
  }

  /** `process.on` gets no signals in a thread, but what it is built on does. */
  function onSignal(number: number, handler: () => void): void {
    // Without a warning on stderr. There is no other way: Node.js offers signals to the main thread alone.
    process.noDeprecation = true;
    const { binding } = process as unknown as { binding(name: 'signal_wrap'): SignalBinding };
    const signal = new (binding('signal_wrap').Signal)();
    signal.onsignal = handler;
    signal.start(number);
  }

  interface SignalBinding {
    readonly Signal: new () => { onsignal: () => void; start(number: number): number };
  }
}
