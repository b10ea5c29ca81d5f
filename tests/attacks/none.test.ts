/**
 * The attacks with `--sandbox off`. In `npm test` the stages in which something comes off there, which shows that the tests
 * would see it elsewhere, and of the others so many that everything that holds is seen to hold; all of them are played in the
 * sandbox.
 */

import { IS_FULL } from '../support/setup/sample.ts';
import { verdictOf } from './attack.ts';
import type { Hold } from './held-by.ts';
import { playAttacks } from './play.ts';
import { STAGES } from './stages.ts';

const seen = new Set<Hold>();

const stages = STAGES.filter(({ attacks }) => {
  const isOpen = attacks.some((attack) => verdictOf(attack, 'none') === 'open');
  const held = attacks.filter((attack) => verdictOf(attack, 'none') === 'held');
  const holds = held.flatMap(({ heldBy }) => heldBy).filter((hold) => !seen.has(hold));
  for (const hold of holds) seen.add(hold);
  return IS_FULL || isOpen || holds.length > 0;
});

playAttacks(stages, 'none', 'tester');
