/** The life of a sandbox: commands run side by side until it closes, and then none is left. */

import { join } from 'node:path';
import type { SandboxLevel } from '../../domain/events.ts';
import type { CommandResult, Sandbox, SandboxCommand } from '../../ports.ts';
import { neverStarted } from './run-to-end.ts';

/** Runs one command; `own` is the beginning of paths of ours that no other command uses. */
export type RunCommand = (command: SandboxCommand, own: string) => Promise<CommandResult>;

/** `files` is the sandbox's own folder. After `close` a command comes back as interrupted. */
export function sandboxOf(level: SandboxLevel, files: string, runCommand: RunCommand): Sandbox {
  const closing = new AbortController();
  const running = new Set<Promise<CommandResult>>();
  let started = 0;
  return {
    level,
    async run(command) {
      const signal = AbortSignal.any([command.signal, closing.signal]);
      if (signal.aborted) return neverStarted();
      const result = runCommand({ ...command, signal }, join(files, `command-${started++}`));
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
    },
  };
}
