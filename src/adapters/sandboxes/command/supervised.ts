/** The life of a sandbox and of each of its commands, however it is contained: started, limited, drained, and dead to the last process. */

import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { whole } from '../../../domain/conversation/excerpt.ts';
import type { CommandEnd, ExceededLimit } from '../../../domain/conversation/tool.ts';
import type { SandboxLevel } from '../../../domain/run/events.ts';
import type { EnforcedLimits } from '../../../domain/run/limits.ts';
import type { CommandResult, Sandbox, SandboxCommand } from '../../../ports.ts';
import { DenialLines } from './denial-lines.ts';
import { OutputCapture } from './output-capture.ts';
import type { PipeSource } from './output-pipe.ts';
import { type ScriptPlace, withScript } from './shell.ts';
import { type ExitStatus, withTimeout } from './spawn.ts';
import type { ResourceUsage } from './usage.ts';
import { ResourceWatchdog } from './watchdog.ts';

/** What a sandbox provides, contained or not. */
export interface SandboxTraits {
  readonly level: SandboxLevel;
  readonly limits: EnforcedLimits;
  /** The sandbox's own folder. */
  readonly files: string;
  /** Made in `files`. */
  readonly pipes: PipeSource;
  /** Paths on the disks that commands can write to. */
  readonly writable: readonly string[];
}

/** What one command gets from its sandbox. */
export interface CommandResources {
  /** A path prefix that no other command uses. */
  readonly path: string;
  readonly script: ScriptPlace;
  /** Takes the bytes of its output. */
  readonly onBytes: (bytes: Uint8Array) => void;
}

/** Starts one command. */
export type StartCommand = (command: SandboxCommand, own: CommandResources) => Promise<ContainedProcess>;

/** A sandbox whose commands run in parallel until it closes; none is left after that. Commands after `close` are answered as interrupted. */
export function supervised(
  { level, limits, files, pipes, writable }: SandboxTraits,
  start: StartCommand,
): Sandbox {
  const closing = new AbortController();
  const watchdog = new ResourceWatchdog(limits, writable);
  const running = new Set<Promise<CommandResult>>();
  let started = 0;
  return {
    level,
    limits,
    async run(asked) {
      const command = { ...asked, signal: AbortSignal.any([asked.signal, closing.signal]) };
      const path = join(files, `command-${started++}`);
      const result = withScript(command.script, path, (script) =>
        supervise(command, watchdog, (onBytes) => start(command, { path, script, onBytes })),
      );
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    async close() {
      closing.abort();
      await Promise.allSettled(running);
      pipes.close();
    },
  };
}

/** A started command. */
export interface ContainedProcess {
  /** Exit code or signal of the command itself; rejects when it could not be started. */
  readonly exited: Promise<ExitStatus>;
  /** stdout and stderr in one stream; its bytes go where `start` directed them. */
  readonly output: Readable;
  /** What its processes currently use; null if unknown. */
  usage(enough: number): ResourceUsage | null;
  /** Kills every process of the command and resolves when they are gone. */
  killAll(): Promise<void>;
}

/** No sandbox could be set up for the command; the message is that of bubblewrap or of the launcher. */
export class SandboxFailure extends Error {
  override readonly name = 'SandboxFailure';
}

/** How long to keep reading the output of background processes after the command has ended. */
const DRAIN_MS = 100;
/** How long the rest of the pipe may take once nothing can write to it any more. */
const REST_MS = 2_000;
/** The longest delay a timer supports; anything longer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The result is available when the command ends, not when its pipes close. By then, none of its processes is left. */
async function supervise(
  command: SandboxCommand,
  watchdog: ResourceWatchdog,
  start: (onBytes: (bytes: Uint8Array) => void) => Promise<ContainedProcess>,
): Promise<CommandResult> {
  if (command.signal.aborted)
    return { end: { ...OPEN, interrupted: true, durationMs: 0 }, output: whole('') };
  const startedAt = performance.now();
  const capture = new OutputCapture();
  const denials = new DenialLines();
  const contained = await start((bytes) => {
    capture.write(bytes);
    denials.write(bytes);
  });
  const drained = untilClosed(contained.output);

  const watch = watchdog.watch((look) => contained.usage(look));
  const ending = await firstOf(contained.exited, watch.exceeded, command).catch(async (error: unknown) => {
    watch.stop();
    await contained.killAll();
    throw error;
  });
  watch.stop();
  const durationMs = performance.now() - startedAt;
  if (ending.exitCode !== null || ending.signal !== null) await withTimeout(DRAIN_MS, drained);
  await contained.killAll();
  await withTimeout(REST_MS, drained);
  contained.output.destroy();

  return { end: { ...ending, durationMs }, output: capture.excerpt(), signs: denials.lines() };
}

type Ending = Omit<CommandEnd, 'durationMs'>;

const OPEN: Ending = { exitCode: null, signal: null, timedOut: false, interrupted: false };

async function firstOf(
  exited: Promise<ExitStatus>,
  exceeded: Promise<ExceededLimit>,
  { timeoutMs, signal }: SandboxCommand,
): Promise<Ending> {
  let interrupt = () => {};
  const interruption = new Promise<Ending>((resolve) => {
    interrupt = () => resolve({ ...OPEN, interrupted: true });
  });
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  const inTime = Promise.race([
    exited.then((status): Ending => ({ ...OPEN, ...status })),
    exceeded.then((limit): Ending => ({ ...OPEN, exceeded: limit })),
    interruption,
  ]);
  try {
    const ending = await withTimeout(Math.min(timeoutMs, LONGEST_TIMER_MS), inTime);
    return ending ?? { ...OPEN, timedOut: true };
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}

/** Also settles when the stream breaks: everything read until then is the output. */
function untilClosed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.once('end', resolve);
    stream.once('close', resolve);
    stream.once('error', () => resolve());
  });
}
