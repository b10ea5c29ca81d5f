/** Commands in namespaces of their own: no network, no other processes, no files but the work tree and the toolchains. */

import type { Sandbox, SandboxCommand } from '../../../ports.ts';
import { openLifecycle, type RunCommand } from '../command/sandbox-lifecycle.ts';
import { type ScriptPlace, withScript } from '../command/shell.ts';
import { superviseCommand } from '../command/supervise-command.ts';
import { Spare, type SpareResources } from './spare.ts';
import { type BubblewrapSetup, lineOf, setUp } from './start.ts';

/** A sandbox in which each command has namespaces of its own, made by bubblewrap. */
export function bubblewrapSandbox(setup: BubblewrapSetup): Sandbox {
  const level = setup.filter === null ? 'namespaces' : 'namespaces+seccomp';
  const spare = new Spare(setup);
  const prepare = (own: SpareResources) => {
    if (setup.keepsSpare) spare.makeSoon(own);
  };
  const run: RunCommand = (command, { path, ...own }) =>
    withScript(command.script, path, async (script) => {
      const ended = await superviseCommand(
        async (onBytes) => {
          const line = canWait(command, script) ? lineOf(setup, command, script) : null;
          const found = line === null ? null : await spare.take(line, onBytes);
          if (found !== null) return found;
          const waiting = await setUp(setup, { ...own, command, script, onBytes });
          waiting.begin();
          return waiting.contained;
        },
        command,
        own.watchdog,
      );
      prepare(own);
      return ended;
    });
  const lifecycle = openLifecycle({ level, ...setup }, run, prepare);
  return {
    ...lifecycle,
    async close() {
      await Promise.all([spare.close(), lifecycle.close()]);
    },
  };
}

/** Whether a sandbox that knows nothing of the command yet will do for it. */
function canWait({ env, talk }: SandboxCommand, script: ScriptPlace): boolean {
  return env === undefined && talk === undefined && script.by === 'argument';
}
