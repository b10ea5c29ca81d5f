/** The attacks in sandboxes that lack a part: the system call filter, a /proc of their own, or all namespaces. */

import { getuid } from 'node:process';
import { describe, expect, test } from 'vitest';
import { IS_FULL } from '../support/setup/sample.ts';
import type { Mode, Stage } from './attack.ts';
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

const play = ({ mode, byDay }: Lesser) => playAttacks(IS_FULL ? STAGES : byDay, mode, 'tester');

describe('without a filter', () => play(UNFILTERED));

// Only root can cover a part of /proc.
describe.skipIf(getuid?.() !== 0)('without a /proc of its own', () => play(LITE));

describe('without namespaces', () => play(LANDLOCK));

test.each([UNFILTERED, LITE, LANDLOCK])('by day, every defence that $mode lacks has an attack', (lesser) => {
  const tried = lesser.byDay.flatMap(({ attacks }) => attacks.flatMap(({ heldBy }) => heldBy));
  expect(lesser.missing.filter((hold) => !tried.includes(hold))).toEqual([]);
});
