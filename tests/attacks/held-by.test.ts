/** Every attack that is held names a defence, and one that works in the mode in question. */

import { describe, expect, test } from 'vitest';
import { MODES, type Mode, verdictOf } from './attack.ts';
import { HOLDS } from './held-by.ts';
import { STAGES } from './stages.ts';

const ATTACKS = STAGES.flatMap((stage) => stage.attacks);

/** Where a hold of this reach works. */
const MODES_OF: Readonly<Record<(typeof HOLDS)[keyof typeof HOLDS]['reach'], readonly Mode[]>> = {
  everywhere: MODES,
  sandbox: ['contained', 'unfiltered', 'lite', 'landlock'],
  filter: ['contained', 'lite', 'landlock'],
};

describe.each(MODES)('in the mode %s', (mode) => {
  test('every attack that is held names a defence that works in that mode', () => {
    const without = ATTACKS.filter(
      (attack) =>
        verdictOf(attack, mode) === 'held' &&
        !attack.heldBy.some((hold) => MODES_OF[HOLDS[hold].reach].includes(mode)),
    );
    expect(without.map(({ id }) => id)).toEqual([]);
  });
});

test('an attack that is held nowhere names no defence', () => {
  const open = ATTACKS.filter((attack) => MODES.every((mode) => verdictOf(attack, mode) !== 'held'));
  expect(open.filter(({ heldBy }) => heldBy.length > 0).map(({ id }) => id)).toEqual([]);
});

test('every kind of defence holds an attack', () => {
  const used = new Set(ATTACKS.flatMap(({ heldBy }) => heldBy));
  expect([...used].sort()).toEqual(Object.keys(HOLDS).sort());
});
