import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { PATIENCE_MS } from '../waiting/patience.ts';
import { cliHere } from './in-process.ts';
import { holdingEvents } from './valid-events.ts';

/** The built command line; `tests/support/setup/build-once.ts` builds it before all tests. */
export const CLI = new URL('../../../dist/cli.js', import.meta.url).pathname;

export interface CliEnd {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** The last line on stderr. */
  readonly lastLine: string;
}

/**
 * Carries out a command line to its end, in this process or, if `built` says so, by the built command. Of the environment it
 * gets the search path and what is given here.
 */
export async function runCli(
  args: readonly string[],
  given: { cwd: string; env?: Record<string, string>; input?: string; built?: boolean },
): Promise<CliEnd> {
  const env = { PATH: process.env.PATH ?? '', HOME: given.cwd, ...given.env };
  const carryOut = given.built === true ? spawned : cliHere;
  const { exitCode, stdout, stderr } = await carryOut(args, { ...given, env });
  return { exitCode, stdout, stderr, lastLine: stderr.trimEnd().split('\n').at(-1) ?? '' };
}

function spawned(args: readonly string[], { cwd, env, input }: Given) {
  return holdingEvents({ args, cwd, env }, () =>
    execa(process.execPath, [CLI, ...args], {
      cwd,
      extendEnv: false,
      env,
      reject: false,
      timeout: PATIENCE_MS,
      stripFinalNewline: false,
      ...(input === undefined ? { stdin: 'ignore' } : { input }),
    }),
  );
}

interface Given {
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly input?: string;
}

/** The checkout that a recorded run worked in. */
export function checkoutOf(runDir: string): string {
  if (!existsSync(join(runDir, 'events.jsonl'))) return tmpdir();
  const [first = ''] = readFileSync(join(runDir, 'events.jsonl'), 'utf8').split('\n', 1);
  return (JSON.parse(first) as { root: string }).root;
}
