/**
 * The GitHub Action, as started by its runner: with the argument `post` it reports what is left of a step that was killed.
 */

import { runAction } from './action/run-action.ts';

process.exit(await runAction(process));
