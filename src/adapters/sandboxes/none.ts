/** Commands without containment: an own process group, an environment by allow-list, and a sweep afterwards. */

import { randomUUID } from 'node:crypto';
import { execa } from 'execa';
import type { Sandbox } from '../../ports.ts';
import { openOutputPipe } from './output-pipe.ts';
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
  return sandboxOf('none', setup.files, (command, own) =>
    withScript(command.script, own, (script) =>
      runToEnd((onBytes) => start(setup, { own, line: shellCommand(setup.shell, script), onBytes }), command),
    ),
  );
}

interface Start {
  /** The beginning of paths of ours. */
  readonly own: string;
  readonly line: readonly string[];
  readonly onBytes: (bytes: Uint8Array) => void;
}

async function start(
  { root, env }: NoneSetup,
  { own, line: [program = '', ...args], onBytes }: Start,
): Promise<ContainedProcess> {
  const { output, writer, closeWriter } = await openOutputPipe(`${own}.out`, onBytes);
  const mark = randomUUID();
  const child = execa(program, args, {
    cwd: root,
    // The type knows descriptors of one digit only.
    stdio: ['ignore', writer as 3, 'ignore'],
    buffer: false,
    reject: false,
    extendEnv: false,
    env: { ...env, [MARK]: mark },
    encoding: 'buffer',
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
