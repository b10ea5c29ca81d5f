/** Every attack in every mode, by whoever runs the tests. */

import { MODES } from './attack.ts';
import { playAttacks } from './play.ts';
import { STAGES } from './stages.ts';

playAttacks(STAGES, MODES, 'tester');
