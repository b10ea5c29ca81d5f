/** Commands in separate namespaces: no network, no other processes, and only the files of the work tree and the toolchains. */

import type { Sandbox } from '../../../ports.ts';
import { openLifecycle } from '../command/sandbox-lifecycle.ts';
import { withScript } from '../command/shell.ts';
import { superviseCommand } from '../command/supervise-command.ts';
import type { BubblewrapSetup } from './setup.ts';
import { start } from './start.ts';

/** A sandbox in which bubblewrap gives each command its own namespaces. */
export function bubblewrapSandbox(setup: BubblewrapSetup): Sandbox {
  const level = setup.filter === null ? 'namespaces' : 'namespaces+seccomp';
  const traits = { level, ...setup, nullDevice: setup.devices.nullDevice } as const;
  return openLifecycle(traits, (command, { path, pipes, foreign, watchdog }) =>
    withScript(command.script, path, (script) =>
      superviseCommand(
        (onBytes) => start(setup, { command, pipes, foreign, script, onBytes }),
        command,
        watchdog,
      ),
    ),
  );
}
