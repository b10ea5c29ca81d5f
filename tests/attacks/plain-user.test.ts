/** The attacks against a runner started by a user without privileges. Users other than root have none anyway. */

import { describe } from 'vitest';
import { isRoot } from '../support/runs/as-nobody.ts';
import { MODES } from './attack.ts';
import { playAttacks } from './play.ts';
import { STAGES } from './stages.ts';

describe.runIf(isRoot).each(MODES)('as a plain user, %s', (mode) => {
  playAttacks(STAGES, mode, 'nobody');
});
