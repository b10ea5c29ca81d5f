/** The GitHub Action, as its runner starts it: with `post` as its argument it says what is left of a step that was killed. */

import { runAction } from './action/run-action.ts';

process.exit(await runAction(process));
