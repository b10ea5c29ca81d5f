/** Commands without containment: an own process group, an environment by allow-list, and a sweep afterwards. */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Sandbox } from '../../ports.ts';
import type { OutputPipes } from './output-pipe.ts';
import { killMarked, killNow } from './process-table.ts';
import { type ContainedProcess, runToEnd } from './run-to-end.ts';
import { sandboxOf } from './sandbox-of.ts';
import { exitOf, shellCommand, withScript } from './shell.ts';

export interface NoneSetup {
  readonly shell: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** A folder of ours; it goes with the sandbox. */
  readonly files: string;
}

/** Every process of a command inherits this variable, whatever session or parent it moves to. */
const MARK = 'SANDBOX_COMMAND';

export function uncontained(setup: NoneSetup): Sandbox {
  return sandboxOf('none', setup.files, (command, { path, pipes }) =>
    withScript(command.script, path, (script) =>
      runToEnd(
        (onBytes) => start(setup, { pipes, line: shellCommand(setup.shell, script), onBytes }),
        command,
      ),
    ),
  );
}

interface Start {
  readonly pipes: OutputPipes;
  readonly line: readonly string[];
  readonly onBytes: (bytes: Uint8Array) => void;
}

async function start(
  { root, env }: NoneSetup,
  { pipes, line: [program = '', ...args], onBytes }: Start,
): Promise<ContainedProcess> {
  const { output, writer, closeWriter } = await pipes.open(onBytes);
  const mark = randomUUID();
  const child = spawn(program, args, {
    cwd: root,
    stdio: ['ignore', writer, 'ignore'],
    env: { ...env, [MARK]: mark },
    detached: true,
  });
  closeWriter();
  return {
    exited: exitOf(child),
    output,
    async killAll() {
      if (child.pid !== undefined) killNow(-child.pid);
      await killMarked(`${MARK}=${mark}`);
    },
  };
}
