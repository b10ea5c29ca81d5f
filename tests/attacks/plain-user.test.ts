/** The attacks where a user without privileges has started the runner. Others than root are such a user anyway. */

import { describe } from 'vitest';
import { isRoot } from '../support/runs/as-nobody.ts';
import { IS_FULL, sampled } from '../support/setup/sample.ts';
import { MODES } from './attack.ts';
import { playAttacks } from './play.ts';
import { STAGES } from './stages.ts';

/** What depends on the user, and one stage of the others. */
const stages = sampled(STAGES, ({ name, byOwner }) => (byOwner ? name : 'others'), 16);

describe.runIf(isRoot).each(IS_FULL ? MODES : (['contained'] as const))('as a plain user, %s', (mode) => {
  playAttacks(stages, mode, 'nobody');
});
