/** The small process of `in-process.ts`; `tests/support/setup/build-once.ts` makes one file of it. */

import process from 'node:process';
import '../setup/few-pages.ts';
import { carryOutBuilt, type Work } from './built-programs.ts';
import type { Given } from './fake-process.ts';

/** What the runner is asked. */
export interface Asked {
  readonly dist: string;
  readonly work: Work;
  readonly given: Given;
}

process.on('message', async ({ id, question }: { id: number; question: Asked }) => {
  const { dist, work, given } = question;
  const said = await carryOutBuilt(dist, work, given).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
  if (process.connected) process.send?.({ id, ...said });
});
process.once('disconnect', () => process.exit());
