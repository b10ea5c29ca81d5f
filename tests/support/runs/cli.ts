import { execa } from 'execa';
import { PATIENCE_MS } from '../waiting/patience.ts';

/** The built command line; `tests/support/setup/build-once.ts` builds it before all tests. */
export const CLI = new URL('../../../dist/cli.js', import.meta.url).pathname;

export interface CliEnd {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** The last line on stderr. */
  readonly lastLine: string;
}

/** Runs the built command line to its end. Of the environment it gets the search path and what is given here. */
export async function runCli(
  args: readonly string[],
  given: { cwd: string; env?: Record<string, string>; input?: string },
): Promise<CliEnd> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [CLI, ...args], {
    cwd: given.cwd,
    extendEnv: false,
    env: { PATH: process.env.PATH ?? '', HOME: given.cwd, ...given.env },
    reject: false,
    timeout: PATIENCE_MS,
    stripFinalNewline: false,
    ...(given.input === undefined ? { stdin: 'ignore' } : { input: given.input }),
  });
  return { exitCode, stdout, stderr, lastLine: stderr.trimEnd().split('\n').at(-1) ?? '' };
}
