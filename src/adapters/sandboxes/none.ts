/** Commands without containment: a process group of their own, an environment from an allow-list, and a sweep afterwards. */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { EnforcedLimits } from '../../domain/run/command-limits.ts';
import type { Sandbox } from '../../ports.ts';
import type { ForeignDescriptors } from './command/descriptors.ts';
import type { OutputPipes } from './command/output-pipe.ts';
import { asFirstVictim, killMarked, killNow } from './command/process-table.ts';
import { openLifecycle } from './command/sandbox-lifecycle.ts';
import { exitOf, limitedCommand, scriptCommand, withScript } from './command/shell.ts';
import { type ContainedProcess, superviseCommand } from './command/supervise-command.ts';
import { usageOfMarked } from './command/usage.ts';

/** What commands without a sandbox are run with. */
export interface NoneSetup {
  readonly shell: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: EnforcedLimits;
  /** Paths on the disks that commands are most likely to write to. */
  readonly writable: readonly string[];
  /** A private folder, removed with the sandbox. */
  readonly files: string;
  /** Made in `files`. */
  readonly pipes: OutputPipes;
}

/** Every process of a command inherits this variable, whatever session or parent it moves to. */
const MARK = 'SANDBOX_COMMAND';

/** Runs commands without a sandbox. They are limited and cleaned up after, but not contained. */
export function uncontained(setup: NoneSetup): Sandbox {
  const { shell, limits } = setup;
  return openLifecycle({ level: 'none', ...setup }, (command, { path, pipes, foreign, watchdog }) =>
    withScript(command.script, path, (script) => {
      const { isStrict = false } = command;
      const line = limitedCommand(scriptCommand({ program: shell, name: shell, isStrict }, script), limits);
      return superviseCommand(
        (onBytes) => start(setup, { pipes, foreign, line, onBytes }),
        command,
        watchdog,
      );
    }),
  );
}

interface Start {
  readonly pipes: OutputPipes;
  readonly foreign: ForeignDescriptors;
  readonly line: readonly string[];
  readonly onBytes: (bytes: Uint8Array) => void;
}

async function start(
  { root, env }: NoneSetup,
  { pipes, foreign, line: [program = '', ...args], onBytes }: Start,
): Promise<ContainedProcess> {
  const { output, writer, closeWriter } = await pipes.open(onBytes);
  const mark = randomUUID();
  const options = {
    cwd: root,
    stdio: foreign.withNothingElse(['ignore', writer, 'ignore']),
    env: { ...env, [MARK]: mark },
    detached: true,
  };
  const child = asFirstVictim(() => spawn(program, args, options));
  closeWriter();
  return {
    exited: exitOf(child),
    output,
    usage: (enough) => usageOfMarked(`${MARK}=${mark}`, enough),
    async killAll() {
      if (child.pid !== undefined) killNow(-child.pid);
      await killMarked(`${MARK}=${mark}`);
    },
  };
}
