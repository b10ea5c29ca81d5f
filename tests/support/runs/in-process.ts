/** The built command and the built action in the process of the test: all that they do but for being a process. */

import { type CommandEnd, endOf, type Given } from './fake-process.ts';
import { holdingEvents } from './valid-events.ts';

interface CommandLine {
  runCommandLine(host: NodeJS.Process, pace: { secondMs?: number }): Promise<number>;
}

interface ActionProgram {
  runAction(host: NodeJS.Process, step: 'main' | 'post'): Promise<number>;
}

/** A file of the bundle, as Node itself loads it. */
const built = (file: string) => import(new URL(`../../../dist/${file}`, import.meta.url).href);

/** Carries out a command line to its end. A second between requests to GitHub lasts `secondMs`. */
export function cliHere(
  args: readonly string[],
  { secondMs, ...given }: Given & { secondMs?: number },
): Promise<CommandEnd> {
  return holdingEvents({ ...given, args }, async () => {
    const { runCommandLine }: CommandLine = await built('command-line.js');
    const pace = secondMs === undefined ? {} : { secondMs };
    return endOf({ ...given, args }, (host) => runCommandLine(host, pace));
  });
}

/** Carries out a step of the action to its end. */
export async function actionHere(step: 'main' | 'post', given: Given): Promise<CommandEnd> {
  const { runAction }: ActionProgram = await built('action-program.js');
  return endOf({ ...given, args: [] }, (host) => runAction(host, step));
}
