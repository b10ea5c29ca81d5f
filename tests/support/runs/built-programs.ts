/** The built command and the built action, in the process that asks for them: all that they do but for being a process. */

import { type CommandEnd, endOf, type Given } from './fake-process.ts';

/** The module of the small process that carries them out; made before all tests. */
export const RUNNER = new URL('../../../node_modules/.cache/runner.mjs', import.meta.url);

/** A command line, whose seconds between requests to GitHub last `secondMs`, or a step of the action. */
export type Work =
  | { readonly args: readonly string[]; readonly secondMs?: number | undefined }
  | { readonly step: 'main' | 'post' };

interface CommandLine {
  runCommandLine(host: NodeJS.Process, pace: { secondMs?: number }): Promise<number>;
}

interface ActionProgram {
  runAction(host: NodeJS.Process, step: 'main' | 'post'): Promise<number>;
}

/** Carries it out to its end. `dist` is the address of the bundle, whose files Node itself loads. */
export async function carryOutBuilt(dist: string, work: Work, given: Given): Promise<CommandEnd> {
  if ('step' in work) {
    const { runAction }: ActionProgram = await import(`${dist}/action-program.js`);
    return endOf({ ...given, args: [] }, (host) => runAction(host, work.step));
  }
  const { runCommandLine }: CommandLine = await import(`${dist}/command-line.js`);
  const { args, secondMs } = work;
  const pace = secondMs === undefined ? {} : { secondMs };
  return endOf({ ...given, args }, (host) => runCommandLine(host, pace));
}
