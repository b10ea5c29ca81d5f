/** The attacks in sandboxes that lack a part: the system call filter, a /proc of their own, or all namespaces. */

import { getuid } from 'node:process';
import { describe, expect, test } from 'vitest';
import { IS_FULL, sampled } from '../support/setup/sample.ts';
import { type Attack, type Mode, type Stage, verdictOf } from './attack.ts';
import type { Hold } from './held-by.ts';
import { playAttacks } from './play.ts';
import { BORROWED } from './stages/checkouts/mounts.ts';
import { NETWORK } from './stages/network.ts';
import { SURVIVORS } from './stages/processes.ts';
import { REACH } from './stages/reach.ts';
import { REACHED } from './stages/secrets.ts';
import { TAKEOVER } from './stages/takeover.ts';
import { UPSTREAM } from './stages/upstream.ts';
import { STAGES } from './stages.ts';

/** A sandbox without these defences, and what is played in it by day: for each of them at least one attack that it holds. */
interface Lesser {
  readonly mode: Mode;
  readonly missing: readonly Hold[];
  readonly byDay: readonly Stage[];
}

const UNFILTERED: Lesser = { mode: 'unfiltered', missing: ['filter'], byDay: [TAKEOVER, NETWORK] };
const LITE: Lesser = {
  mode: 'lite',
  missing: ['processes', 'untraced', 'wiped'],
  byDay: [REACHED, SURVIVORS],
};
const LANDLOCK: Lesser = {
  mode: 'landlock',
  missing: ['mounts', 'pinned', 'covers', 'processes', 'untraced', 'network', 'proxy', 'user', 'filter'],
  byDay: [REACH, BORROWED, NETWORK, UPSTREAM, SURVIVORS, TAKEOVER],
};

/** Of the attacks in these stages that a missing defence holds elsewhere, one of each kind. */
function sampleOf({ mode, missing, byDay }: Lesser): Stage[] {
  return byDay.map((stage) => {
    const lacking = ({ heldBy }: Attack) => heldBy.filter((hold) => missing.includes(hold));
    const kindOf = (attack: Attack) => [verdictOf(attack, mode), ...lacking(attack)].join();
    const attacks = stage.attacks.filter((attack) => lacking(attack).length > 0);
    return { ...stage, attacks: sampled(attacks, kindOf) };
  });
}

const play = (lesser: Lesser) => playAttacks(IS_FULL ? STAGES : sampleOf(lesser), lesser.mode, 'tester');

describe('without a filter', () => play(UNFILTERED));

// Only root can cover a part of /proc.
describe.skipIf(getuid?.() !== 0)('without a /proc of its own', () => play(LITE));

describe('without namespaces', () => play(LANDLOCK));

test.each([UNFILTERED, LITE, LANDLOCK])('by day, every defence that $mode lacks has an attack', (lesser) => {
  const tried = sampleOf(lesser).flatMap(({ attacks }) => attacks.flatMap(({ heldBy }) => heldBy));
  expect(lesser.missing.filter((hold) => !tried.includes(hold))).toEqual([]);
});
