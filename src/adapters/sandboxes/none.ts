/**
 * Commands without containment: a separate process group, an environment from an allow-list, and cleanup of leftover processes.
 */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { EnforcedLimits } from '../../domain/run/limits.ts';
import type { CommandTalk, Sandbox, SandboxCommand } from '../../ports.ts';
import { ForeignDescriptors } from './command/descriptors.ts';
import type { PipeSource } from './command/output-pipe.ts';
import { asFirstVictim, killMarked, killNow } from './command/process-table.ts';
import { openLifecycle } from './command/sandbox-lifecycle.ts';
import { exitOf, lastingCommand, limitedCommand, scriptCommand, withScript } from './command/shell.ts';
import { type ContainedProcess, superviseCommand } from './command/supervise-command.ts';
import { converse } from './command/talk.ts';
import { usageOfMarked } from './command/usage.ts';

/** What commands without a sandbox are run with. */
export interface NoneSetup {
  readonly shell: string;
  readonly root: string;
  /** Commands start in this folder of it. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: EnforcedLimits;
  /** Paths on the disks that commands are most likely to write to. */
  readonly writable: readonly string[];
  /** A private folder, removed with the sandbox. */
  readonly files: string;
  /** Made in `files`. */
  readonly pipes: PipeSource;
}

/** Every process of a command inherits this variable, whatever session or parent it moves to. */
const MARK = 'SANDBOX_COMMAND';

/** Held open by this process alone, so that a program that is talked to does not live longer. */
const LIFELINE_FD = 3;

/** Runs commands without a sandbox. They are limited and cleaned up after, but not contained. */
export function uncontained(setup: NoneSetup): Sandbox {
  const { shell, limits, folder } = setup;
  const foreign = new ForeignDescriptors();
  const sandbox = openLifecycle({ level: 'none', ...setup }, (command, { path, pipes, watchdog }) =>
    withScript(command.script, path, (script) => {
      const { isStrict = false, talk, env } = command;
      const line = scriptCommand({ program: shell, name: shell, isStrict }, script);
      const run = { line, limits, folder };
      return superviseCommand(
        (onBytes) =>
          talk === undefined
            ? start(setup, { pipes, foreign, env, line: limitedCommand(run), onBytes })
            : startTalk(setup, { foreign, env, line: lastingCommand(run, LIFELINE_FD), talk }),
        command,
        watchdog,
      );
    }),
  );
  return { ...sandbox, close: () => sandbox.close().finally(() => foreign.close()) };
}

interface ProcessStart {
  readonly pipes: PipeSource;
  readonly foreign: ForeignDescriptors;
  readonly env: SandboxCommand['env'];
  readonly line: readonly string[];
  readonly onBytes: (bytes: Uint8Array) => void;
}

interface StartTalk extends Pick<ProcessStart, 'foreign' | 'env' | 'line'> {
  readonly talk: CommandTalk;
}

async function start(
  setup: NoneSetup,
  { pipes, foreign, line, env, onBytes }: ProcessStart,
): Promise<ContainedProcess> {
  const { output, writer, closeWriter } = await pipes.open(onBytes);
  const stdio = foreign.withNothingElse(['ignore', writer, 'ignore']);
  const { child, mark } = spawnMarked(setup, { line, env, stdio });
  closeWriter();
  return processOf(child, mark, output);
}

async function startTalk(
  setup: NoneSetup,
  { foreign, line, env, talk }: StartTalk,
): Promise<ContainedProcess> {
  const stdio = foreign.withNothingElse(['pipe', 'pipe', 'pipe', 'pipe']);
  const { child, mark } = spawnMarked(setup, { line, env, stdio });
  const lifeline = child.stdio[LIFELINE_FD] as Duplex;
  // Its other end is closed with the program.
  lifeline.on('error', () => lifeline.destroy());
  const streams = {
    stdin: child.stdio[0] as Writable,
    stdout: child.stdio[1] as Readable,
    stderr: child.stdio[2] as Readable,
  };
  return processOf(child, mark, converse(talk, streams));
}

function spawnMarked(
  { root, env: shared }: NoneSetup,
  { line: [program = '', ...args], env, stdio }: Pick<ProcessStart, 'line' | 'env'> & { stdio: StdioOptions },
) {
  const mark = randomUUID();
  const options = { cwd: root, stdio, env: { ...shared, ...env, [MARK]: mark }, detached: true };
  return { child: asFirstVictim(() => spawn(program, args, options)), mark };
}

function processOf(child: ChildProcess, mark: string, output: Readable): ContainedProcess {
  return {
    exited: exitOf(child),
    output,
    usage: (look) => usageOfMarked(`${MARK}=${mark}`, look),
    async killAll() {
      if (child.pid !== undefined) killNow(-child.pid);
      await killMarked(`${MARK}=${mark}`);
    },
  };
}
