/** Declares the tests of the attacks: every attack of these stages in one mode, and what must hold in each run. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeFolders } from '../support/files/repository.ts';
import { type Attack, LEVELS, type Mode, type Stage, verdictOf } from './attack.ts';
import { type As, carryOut, type Scene } from './carry-out.ts';

/** Node 24 takes some 40 MB more than Node 20 for the same work. */
const MAX_RUNNER_BYTES = 300 * 1024 * 1024;
/** Runs at the same time: they mostly wait. */
const SIDE_BY_SIDE = 4;

/** Each mode has its own test file, so that they run in parallel. `user` starts the runner. */
export function playAttacks(stages: readonly Stage[], mode: Mode, user: As): void {
  const scenes = new Map<Stage, Promise<Scene>>();
  afterAll(async () => {
    await Promise.allSettled(scenes.values());
    removeFolders();
  });

  describe.each(stages.map((stage, at) => ({ stage, name: stage.name, at })))('$name', ({ stage, at }) => {
    let scene: Scene;
    beforeAll(async () => {
      for (const next of stages.slice(at, at + SIDE_BY_SIDE)) {
        const begun = scenes.get(next) ?? carryOut(next, mode, user);
        // It is awaited where its tests are.
        begun.catch(() => {});
        scenes.set(next, begun);
      }
      scene = await (scenes.get(stage) as Promise<Scene>);
    });
    afterAll(() => scene?.close());
    const having = (verdict: string) =>
      stage.attacks
        .filter((attack: Attack) => verdictOf(attack, mode) === verdict)
        .map((attack) => [`${attack.id}: ${attack.what}`, attack] as const);

    test.each(having('held'))('held: %s', (_, attack) => {
      expect(attack.goal.reached(scene.evidenceOf(attack)), attack.what).toBe(null);
    });

    // A goal that is reached where nothing is promised shows that the test would notice it elsewhere.
    test.each(having('open'))('open: %s', (_, attack) => {
      const seen = scene.evidenceOf(attack);
      expect(attack.goal.reached(seen), `${attack.what}\n${seen.said}`).not.toBe(null);
    });

    test('everything was tried, no canary left, and the runner stayed small', () => {
      const { run } = scene;
      const end =
        typeof stage.ends === 'object'
          ? (stage.ends[mode] ?? (mode === 'lite' || mode === 'landlock' ? stage.ends.contained : undefined))
          : stage.ends;
      const ends: string[] = end === undefined ? ['done', 'no_change'] : [end];
      if (stage.mayBeInDoubt && mode === 'landlock') ends.push('policy_violation');
      expect(ends, run.stderr).toContain(run.result.outcome);
      // A first scan of the work tree that takes all the time leaves none for a sandbox.
      const unopened =
        end === 'deadline' || end === 'usage_error' || end === 'sandbox_unavailable' ? [null] : [];
      expect([LEVELS[mode], ...unopened]).toContain(run.result.sandbox);
      // A refused run makes no request to a model, and nothing in a refused answer is carried out.
      const isRefused = ['sandbox_unavailable', 'provider_error', 'usage_error'].includes(end ?? '');
      expect(scene.untold).toEqual(isRefused ? expect.anything() : []);
      expect(scene.leaks()).toEqual([]);
      expect(scene.peakBytes).toBeGreaterThan(0);
      expect(scene.peakBytes).toBeLessThan(MAX_RUNNER_BYTES);
    });
  });
}
