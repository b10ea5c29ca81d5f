/** The built command and the built action without a process of their own: in a small one that goes on, or in that of the test. */

import { smallProcess } from '../machine/small-process.ts';
import { FEW_PAGES } from '../setup/few-pages.ts';
import { carryOutBuilt, RUNNER, type Work } from './built-programs.ts';
import type { CommandEnd, Given } from './fake-process.ts';
import type { Asked } from './runner.ts';
import { holdingEvents } from './valid-events.ts';

const DIST = new URL('../../../dist', import.meta.url).href;

const inRunner = smallProcess<Asked, CommandEnd>(RUNNER, FEW_PAGES);

interface Where {
  /** In the process of the test, which sees what programs it starts. */
  readonly here?: boolean;
}

/** What a test watches or interrupts happens in its own process, where it can be seen at once. */
function carryOut(work: Work, { here, ...given }: Given & Where): Promise<CommandEnd> {
  const { interrupt, onStdout, onStderr } = given;
  const isWatched = [interrupt, onStdout, onStderr].some((one) => one !== undefined);
  if (here === true || isWatched) return carryOutBuilt(DIST, work, given);
  return inRunner({ dist: DIST, work, given });
}

/** Carries out a command line to its end. A second between requests to GitHub lasts `secondMs`. */
export function cliHere(
  args: readonly string[],
  { secondMs, ...given }: Given & Where & { secondMs?: number },
): Promise<CommandEnd> {
  return holdingEvents({ ...given, args }, () => carryOut({ args, secondMs }, given));
}

/** Carries out a step of the action to its end. */
export function actionHere(step: 'main' | 'post', given: Given): Promise<CommandEnd> {
  return carryOut({ step }, given);
}
