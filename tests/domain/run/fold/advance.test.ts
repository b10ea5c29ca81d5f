import { describe, expect, test } from 'vitest';
import { noUsage } from '../../../../src/domain/conversation/conversation.ts';
import type { CommandEnd } from '../../../../src/domain/conversation/tool.ts';
import type { RunAction } from '../../../../src/domain/run/events.ts';
import { advance } from '../../../../src/domain/run/fold/advance.ts';
import { call, commandEnd, completed, started, stateAfter, turn } from '../../../support/runs/events.ts';

describe('the fold of a run', () => {
  test('a run that is resumed at a cap may have more to spend by now', () => {
    const cap = { limit: 'tokens', value: 9, used: 8, needed: 5 } as const;
    const resumed: RunAction = {
      type: 'run.resumed',
      patchsmith: '0',
      supersedes: null,
      limits: started.limits,
      base: started.base,
      accepted: [],
      iteration: 1,
    };
    const reached = { type: 'budget.reached', ...cap, text: 'Finish.' } as const;
    expect(stateAfter([reached]).lastTurn).toEqual({ cap, isAnswered: false });
    expect(stateAfter([reached, turn({ text: 'So far.' })]).lastTurn?.isAnswered).toBe(true);
    expect(stateAfter([reached, turn({}), resumed]).lastTurn).toBeNull();
    expect(stateAfter([reached, turn({ calls: [call('x')] }), resumed]).lastTurn).not.toBeNull();
  });

  test('an answer that was cut off by the end of the run is billed, and said to be an estimate', () => {
    const spent = { usage: { ...noUsage, output: 100_000 }, estimated: true };
    const state = stateAfter([{ type: 'turn.interrupted', spent }, turn({})]);
    expect([state.usage.output, state.costUsd, state.isEstimated]).toEqual([100_000, 1, true]);
  });

  test('sees the same calls with the same results again', () => {
    const again = [turn({ calls: [call('a')] }), completed('a')];
    expect(stateAfter([...again, ...again, ...again]).repeats).toBe(3);
    expect(
      stateAfter([...again, ...again, turn({ calls: [call('b')] }), completed('b', 'other')]).repeats,
    ).toBe(1);
  });

  test('of a resumed run forgets the time it was dead and what stopped it, and nothing else', () => {
    const before = [
      turn({ usage: { ...noUsage, output: 7 } }),
      { type: 'run.interrupted', interruption: { cause: 'deadline' } },
    ] as const;
    const killed = stateAfter(before);
    const base = { ...killed.base, tree: 't1' };
    const resumed = advance(killed, {
      type: 'run.resumed',
      patchsmith: '0.0.0',
      supersedes: null,
      limits: started.limits,
      base,
      accepted: [],
      iteration: 1,
      seq: killed.seq + 1,
      at: killed.now + 1_000_000,
    });
    expect(resumed.now - resumed.startedAt).toBe(killed.now - killed.startedAt);
    const { startedAt, now, seq } = resumed;
    expect(resumed).toEqual({ ...killed, startedAt, now, seq, base, interruption: null });
  });

  test('of a resumed run repeats a verification that was stopped, and leaves one that failed', () => {
    const resumedAfter = (end: CommandEnd) => {
      const before = stateAfter(
        [
          turn({ text: 'all done' }),
          {
            type: 'verify.completed',
            tree: null,
            reports: [{ command: 'npm test', end, output: '' }],
            otherwise: [],
          },
        ],
        { verify: ['npm test'] },
      );
      const { base, seq, now } = before;
      return advance(before, {
        type: 'run.resumed',
        patchsmith: '0.0.0',
        supersedes: null,
        limits: started.limits,
        base,
        accepted: [],
        iteration: 1,
        seq: seq + 1,
        at: now + 1,
      });
    };
    const stopped = resumedAfter({ ...commandEnd(0), exitCode: null, interrupted: true });
    expect([stopped.phase, stopped.fixRoundsUsed]).toEqual([{ at: 'verify', summary: 'all done' }, 0]);
    expect(resumedAfter(commandEnd(1)).phase).toMatchObject({ at: 'fix', summary: 'all done' });
  });
});
