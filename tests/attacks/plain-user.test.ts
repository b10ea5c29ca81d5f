/** The attacks where a user without privileges has started the runner. Others than root are such a user anyway. */

import { describe } from 'vitest';
import { isRoot } from '../support/runs/as-nobody.ts';
import { MODES } from './attack.ts';
import { playAttacks } from './play.ts';
import { STAGES } from './stages.ts';

describe.runIf(isRoot).each(MODES)('as a plain user, %s', (mode) => {
  playAttacks(STAGES, mode, 'nobody');
});
