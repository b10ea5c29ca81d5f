import { sampled } from '../support/setup/sample.ts';
import { playAttacks } from './play.ts';
import { STAGES } from './stages.ts';

/** What the filter helps to hold has to be held without it; of the others, one stage. */
const stages = sampled(
  STAGES,
  ({ name, attacks }) => (attacks.some(({ heldBy }) => heldBy.includes('filter')) ? name : 'others'),
  24,
);

playAttacks(stages, 'unfiltered', 'tester');
