import { describe, expect, test } from 'vitest';
import { noUsage } from '../../../src/domain/conversation/conversation.ts';
import type { RunAction } from '../../../src/domain/run/events.ts';
import { stopReason } from '../../../src/domain/run/stop-reason.ts';
import { call, commandEnd, completed, limits, stateAfter, turn } from '../../support/runs/events.ts';

const oneTurn = [
  turn({ calls: [call('a')], usage: { ...noUsage, input: 900, output: 100 } }),
  completed('a'),
];

describe('stopReason', () => {
  test('a signal wins over the deadline, and the deadline over everything but work that is done', () => {
    const bySignal = stateAfter([
      { type: 'run.interrupted', interruption: { cause: 'signal', signal: 'SIGTERM' } },
    ]);
    expect(stopReason(bySignal, { ...limits, deadlineMs: 1 })).toEqual({
      why: 'interrupted',
      signal: 'SIGTERM',
    });
    expect(stopReason(stateAfter(oneTurn), { ...limits, deadlineMs: 1, maxIterations: 1 })?.why).toBe(
      'deadline',
    );
    expect(stopReason(stateAfter([turn({ text: 'done' })]), { ...limits, deadlineMs: 1 })?.why).toBe(
      'completed',
    );
  });

  describe('what the runner answered because a call did not come to its end', () => {
    const interrupted = (id: string): RunAction => ({
      type: 'tool.completed',
      call: id,
      outcome: { status: 'failed', reason: 'interrupted', text: 'Interrupted: the runner was killed.' },
      durationMs: 0,
    });
    const stopped: RunAction = {
      type: 'tool.completed',
      call: 'c',
      outcome: {
        status: 'failed',
        reason: 'interrupted',
        text: '[interrupted]',
        command: { ...commandEnd(0), exitCode: null, interrupted: true },
      },
      durationMs: 1,
    };
    const command = call('c', 'run_command', { command: 'npm test' });

    test.each([
      ['killed in one command', [turn({ calls: [command] }), interrupted('c')]],
      ['stopped in one command', [turn({ calls: [command] }), stopped]],
      [
        'killed beside a call that had ended',
        [turn({ calls: [call('a'), command] }), completed('a'), interrupted('c')],
      ],
    ])('is no stall: %s five times and more', (_name, killed) => {
      const state = stateAfter([...killed, ...killed, ...killed, ...killed, ...killed, ...killed]);
      expect([state.repeats, stopReason(state, limits)]).toEqual([0, null]);
    });

    test('in an answer that was cut off is the output limit and no stall', () => {
      const cut = [
        turn({ calls: [call('a')], stop: 'max_tokens' }),
        {
          type: 'tool.completed',
          call: 'a',
          outcome: { status: 'failed', reason: 'cut_off', text: 'Not run.' },
          durationMs: 0,
        } as const,
      ];
      const state = stateAfter([...cut, ...cut, ...cut, ...cut, ...cut]);
      expect(stopReason(state, limits)).toMatchObject({ limit: 'output_tokens' });
    });

    test.each(['policy', 'too_many_calls'] as const)(
      'is not a refusal (%s): who asks for the same again gets no further',
      (reason) => {
        const refused = [
          turn({ calls: [call('a')] }),
          {
            type: 'tool.completed',
            call: 'a',
            outcome: { status: 'failed', reason, text: 'No.' },
            durationMs: 0,
          } as const,
        ];
        const state = stateAfter([...refused, ...refused, ...refused, ...refused, ...refused]);
        expect(stopReason(state, limits)).toMatchObject({ why: 'blocked', by: 'stall' });
      },
    );
  });
});

describe('at the deadline, what was being waited for', () => {
  const awaited = (...parameters: Parameters<typeof stateAfter>) => {
    const stop = stopReason(stateAfter(...parameters), { ...limits, deadlineMs: 0 });
    return stop?.why === 'deadline' ? stop.awaited : stop;
  };
  const cutOff = [{ command: 'sleep 30', end: { ...commandEnd(1), interrupted: true }, output: '' }];

  test('is named', () => {
    expect(awaited([])).toBe("the model's answer");
    expect(awaited([], { setup: cutOff })).toBe('the setup command sleep 30');
    expect(awaited([], { verifyBaseline: cutOff })).toBe('the verify command sleep 30');
  });
});
