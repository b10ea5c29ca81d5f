import { playAttacks } from './play.ts';
import { STAGES } from './stages.ts';

playAttacks(STAGES, 'none', 'tester');
