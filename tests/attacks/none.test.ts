/** The attacks with `--sandbox off`: what comes off there shows that the tests would see it elsewhere. At night only. */

import { playAttacks } from './play.ts';
import { STAGES } from './stages.ts';

playAttacks(STAGES, 'none', 'tester');
