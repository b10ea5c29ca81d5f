/** The attacks in sandboxes that lack a part: the system call filter, a /proc of their own, or all namespaces. */

import { getuid } from 'node:process';
import { describe } from 'vitest';
import { sampled } from '../support/setup/sample.ts';
import type { Stage } from './attack.ts';
import { playAttacks } from './play.ts';
import { STAGES } from './stages.ts';

/** What the missing part helps to hold has to be held without it; of the others, one stage. */
function stagesWithout(...missing: readonly string[]): Stage[] {
  const isConcerned = ({ attacks }: Stage) =>
    attacks.some(({ heldBy }) => heldBy.some((hold) => missing.includes(hold)));
  return sampled(STAGES, (stage) => (isConcerned(stage) ? stage.name : 'others'), 24);
}

describe('without a filter', () => playAttacks(stagesWithout('filter'), 'unfiltered', 'tester'));

// Only root can cover a part of /proc.
describe.skipIf(getuid?.() !== 0)('without a /proc of its own', () =>
  playAttacks(stagesWithout('processes', 'untraced', 'wiped'), 'lite', 'tester'),
);

describe('without namespaces', () =>
  playAttacks(
    stagesWithout(
      'mounts',
      'pinned',
      'covers',
      'processes',
      'untraced',
      'network',
      'proxy',
      'user',
      'filter',
    ),
    'landlock',
    'tester',
  ));
