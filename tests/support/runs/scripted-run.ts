import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { RunEvent, RunResult } from '../../../src/library.ts';
import type { Script, ScriptedCall } from '../claude-server/script.ts';
import type { ClaudeServer } from '../claude-server/server.ts';
import { startClaudeServer } from '../claude-server/server.ts';
import { type Repository, temporaryFolder } from '../files/repository.ts';
import { resultOf } from '../published.ts';
import { PATIENCE_MS } from '../waiting/patience.ts';
import { CLI } from './cli.ts';
import { cliHere } from './in-process.ts';
import { holdingEvents, validEvents } from './valid-events.ts';

export const KEY = 'sk-ant-test-0123456789abcdef';

/** What a run left behind. */
export interface FinishedRun {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** The last line on stderr. */
  readonly lastLine: string;
  readonly runDir: string;
  readonly result: RunResult;
  readonly events: RunEvent[];
  readonly patch: string;
  readonly server: ClaudeServer;
}

export interface ScriptedRun {
  readonly repository: Pick<Repository, 'root'>;
  readonly turns: Script;
  /** A plan file in place of `--message`. */
  readonly plan?: string;
  /** The arguments say what the task is. */
  readonly withoutTask?: boolean;
  /** Default: a fresh temporary folder. */
  readonly runDir?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Without a process of its own the run is carried out in that of the test, which sees what programs it starts. */
  readonly here?: boolean;
  /** The built command, as with what follows; left out, the run has no process of its own. */
  readonly built?: boolean;
  /** A command line that the run's own is added to, which it ends by becoming. */
  readonly wrap?: readonly string[];
  /** Where the built command is; default: where it was built. */
  readonly cli?: string;
  /** Called with the running process, to send it signals. */
  readonly during?: (run: { pid: number; runDir: string; server: ClaudeServer }) => Promise<void>;
}

/** Calls a tool. */
export const call = (name: string, input: Record<string, unknown>): ScriptedCall => ({ name, input });

/** An answer that runs a command. */
export const command = (text: string) => ({ calls: [call('run_command', { command: text })] });

/** An answer without a call, which ends the work. */
export const done = { text: 'Done.' };

/** A run in a repository, against a scripted API on loopback. */
export async function scriptedRun(run: ScriptedRun): Promise<FinishedRun> {
  const { repository, turns, plan, args = [], env = {} } = run;
  const runDir = run.runDir ?? join(temporaryFolder(), 'run');
  const message = run.withoutTask === true ? [] : ['--message', 'Do it'];
  const task = plan === undefined ? message : ['--plan', plan];
  const server = await startClaudeServer({ turns, apiKey: KEY });
  try {
    const { exitCode, stdout, stderr } = await carryOut(run, {
      runDir,
      server,
      args: ['run', '--repo', repository.root, '--run-dir', runDir, ...task, ...args],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        XDG_STATE_HOME: temporaryFolder(),
        ANTHROPIC_API_KEY: KEY,
        ANTHROPIC_BASE_URL: server.url,
        ...env,
      },
    });
    return {
      exitCode,
      stdout,
      stderr,
      lastLine: lastLineOf(stderr),
      runDir,
      server,
      ...filesOf(runDir, stderr),
    };
  } finally {
    await server.close();
  }
}

interface Line {
  readonly runDir: string;
  readonly server: ClaudeServer;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

async function carryOut(
  { here = false, built, wrap = [], cli, during }: ScriptedRun,
  { args, env, ...there }: Line,
) {
  if (built !== true && wrap.length === 0 && cli === undefined && during === undefined) {
    return cliHere(args, { cwd: process.cwd(), env, here });
  }
  const [program = '', ...line] = [...wrap, process.execPath, cli ?? CLI, ...args];
  return holdingEvents({ args, cwd: process.cwd(), env }, async () => {
    const child = execa(program, line, {
      env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      timeout: PATIENCE_MS,
      stripFinalNewline: false,
    });
    if (during && child.pid) await during({ pid: child.pid, ...there });
    return child;
  });
}

function filesOf(runDir: string, stderr: string) {
  if (!existsSync(join(runDir, 'result.json'))) throw new Error(`The run left no result:\n${stderr}`);
  const read = (name: string) =>
    existsSync(join(runDir, name)) ? readFileSync(join(runDir, name), 'utf8') : '';
  return {
    result: resultOf(runDir),
    events: validEvents(read('events.jsonl')),
    patch: read('changes.patch'),
  };
}

function lastLineOf(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
