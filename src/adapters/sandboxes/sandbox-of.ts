/** The life of a sandbox: commands run side by side until it closes, and then none is left. */

import { join } from 'node:path';
import type { SandboxLevel } from '../../domain/events.ts';
import type { CommandResult, Sandbox, SandboxCommand } from '../../ports.ts';
import { OutputPipes } from './output-pipe.ts';
import { neverStarted } from './run-to-end.ts';

/** What one command gets of ours. */
export interface Own {
  /** The beginning of paths that no other command uses. */
  readonly path: string;
  readonly pipes: OutputPipes;
}

/** Runs one command. */
export type RunCommand = (command: SandboxCommand, own: Own) => Promise<CommandResult>;

/** `files` is the sandbox's own folder. After `close` a command comes back as interrupted. */
export function sandboxOf(level: SandboxLevel, files: string, runCommand: RunCommand): Sandbox {
  const closing = new AbortController();
  const pipes = new OutputPipes(files);
  const running = new Set<Promise<CommandResult>>();
  let started = 0;
  return {
    level,
    async run(command) {
      const signal = AbortSignal.any([command.signal, closing.signal]);
      if (signal.aborted) return neverStarted();
      const result = runCommand({ ...command, signal }, { path: join(files, `command-${started++}`), pipes });
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
