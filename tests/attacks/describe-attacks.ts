/** The tests of one mode: every attack of every stage, and what must hold in each of them. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeFolders } from '../support/repository.ts';
import { type Mode, verdictOf } from './attack.ts';
import { carryOut, type Scene } from './carry-out.ts';
import { STAGES } from './stages.ts';

const MAX_RUNNER_BYTES = 250 * 1024 * 1024;

export function describeAttacks(mode: Mode): void {
  afterAll(removeFolders);

  describe.each(STAGES)('$name', (stage) => {
    let scene: Scene;
    beforeAll(async () => {
      scene = await carryOut(stage, mode);
    }, 60_000);
    afterAll(() => scene?.close());

    test.each(stage.attacks.filter((attack) => verdictOf(attack, mode) === 'held'))('held: $id', (attack) => {
      expect(attack.goal.reached(scene.evidenceOf(attack)), attack.what).toBe(null);
    });

    // A goal that is reached where nothing is promised shows that the test would see it elsewhere.
    test.each(stage.attacks.filter((attack) => verdictOf(attack, mode) === 'open'))('open: $id', (attack) => {
      const seen = scene.evidenceOf(attack);
      expect(attack.goal.reached(seen), `${attack.what}\n${seen.said}`).not.toBe(null);
    });

    test('everything was tried, no canary left, and the runner stayed small', () => {
      const { run } = scene;
      const ends = stage.ends === undefined ? ['done', 'no_change'] : [stage.ends];
      expect(ends, run.stderr).toContain(run.result.outcome);
      expect(scene.untold).toEqual([]);
      expect(scene.leaks()).toEqual([]);
      expect(scene.peakBytes).toBeLessThan(MAX_RUNNER_BYTES);
    });
  });
}
