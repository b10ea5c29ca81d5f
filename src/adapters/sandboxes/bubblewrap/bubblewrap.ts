/** Commands in separate namespaces: no network, no other processes, and only the files of the work tree and the toolchains. */

import type { Sandbox, SandboxCommand } from '../../../ports.ts';
import { openLifecycle, type RunCommand } from '../command/sandbox-lifecycle.ts';
import { type ScriptPlace, withScript } from '../command/shell.ts';
import { superviseCommand } from '../command/supervise-command.ts';
import type { BubblewrapSetup } from './setup.ts';
import { type SpareResources, Spares } from './spares.ts';
import { lineOf, setUp } from './start.ts';

/** A sandbox in which bubblewrap gives each command its own namespaces. */
export function bubblewrapSandbox(setup: BubblewrapSetup): Sandbox {
  const level = setup.filter === null ? 'namespaces' : 'namespaces+seccomp';
  const spares = new Spares(setup);
  const prepare = (own: SpareResources) => {
    if (setup.keepsSpare) spares.makeSoon(own);
  };
  const run: RunCommand = (command, { path, ...own }) =>
    withScript(command.script, path, async (script) => {
      const line = canWait(command, script) ? lineOf(setup, command, script) : null;
      if (line !== null) spares.commandBegins();
      const start = async (onBytes: (bytes: Uint8Array) => void) => {
        const found = line === null ? null : await spares.take(line, onBytes);
        if (found !== null) return found;
        const waiting = await setUp(setup, { ...own, command, script, onBytes });
        waiting.begin();
        return waiting.contained;
      };
      const starting = (onBytes: (bytes: Uint8Array) => void) => start(onBytes).finally(() => prepare(own));
      return superviseCommand(starting, command, own.watchdog).finally(() => {
        if (line !== null) spares.commandEnded();
        prepare(own);
      });
    });
  const lifecycle = openLifecycle({ level, ...setup, nullDevice: setup.devices.nullDevice }, run, prepare);
  return {
    ...lifecycle,
    async close() {
      await Promise.all([spares.close(), lifecycle.close()]);
    },
  };
}

/** Whether the command can use a sandbox that was set up before it was known. */
function canWait({ env, talk }: SandboxCommand, script: ScriptPlace): boolean {
  return env === undefined && talk === undefined && script.by === 'argument';
}
