/** The life of a sandbox: commands run in parallel until it closes, and none is left after that. */

import { join } from 'node:path';
import type { SandboxLevel } from '../../../domain/run/events.ts';
import type { EnforcedLimits } from '../../../domain/run/limits.ts';
import type { CommandResult, Sandbox, SandboxCommand } from '../../../ports.ts';
import type { PipeSource } from './output-pipe.ts';
import { neverStarted } from './supervise-command.ts';
import { ResourceWatchdog } from './watchdog.ts';

/** What one command gets from us. */
export interface CommandResources {
  /** A path prefix that no other command uses. */
  readonly path: string;
  readonly pipes: PipeSource;
  readonly watchdog: ResourceWatchdog;
}

/** Runs one command. */
export type RunCommand = (command: SandboxCommand, own: CommandResources) => Promise<CommandResult>;

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

/** After `close`, commands are answered as interrupted. */
export function openLifecycle(
  { level, limits, files, pipes, writable }: SandboxTraits,
  runCommand: RunCommand,
): Sandbox {
  const closing = new AbortController();
  const watchdog = new ResourceWatchdog(limits, writable);
  const running = new Set<Promise<CommandResult>>();
  let started = 0;
  return {
    level,
    limits,
    async run(command) {
      const signal = AbortSignal.any([command.signal, closing.signal]);
      if (signal.aborted) return neverStarted();
      const path = join(files, `command-${started++}`);
      const result = runCommand({ ...command, signal }, { path, pipes, watchdog });
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
