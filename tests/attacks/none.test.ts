/**
 * The attacks with `--sandbox off`: what succeeds there shows that the tests would notice it elsewhere. At night
 * only.
 */

import { playAttacks } from './play.ts';
import { STAGES } from './stages.ts';

playAttacks(STAGES, 'none', 'tester');
