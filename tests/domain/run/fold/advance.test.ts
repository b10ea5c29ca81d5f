import { describe, expect, test } from 'vitest';
import { noUsage } from '../../../../src/domain/conversation/conversation.ts';
import type { CommandEnd } from '../../../../src/domain/conversation/tool.ts';
import type { SpentTokens } from '../../../../src/domain/run/budget.ts';
import type { RunAction } from '../../../../src/domain/run/events.ts';
import { advance } from '../../../../src/domain/run/fold/advance.ts';
import { call, commandEnd, completed, started, stateAfter, turn } from '../../../support/runs/events.ts';

const retried = (spent: SpentTokens): RunAction => ({
  type: 'turn.retried',
  ...{ attempt: 2, kind: 'stream', status: null, cause: 'reset', waitMs: 1, spent },
});

describe('the fold of a run', () => {
  test('has reverted changes in its ledger, and not in its net change', () => {
    const after = { mode: '100644' as const, blob: 'a'.repeat(40), size: 1 };
    const { changes } = stateAfter([
      {
        type: 'changes.put_back',
        changes: [{ path: 'kept.txt', before: null, after }],
        stuck: [],
        source: { by: 'verify' },
        iteration: 2,
      },
    ]);
    expect(changes.history).toMatchObject([
      { path: 'kept.txt', kind: 'create', after, source: { by: 'verify' }, excluded: 'put_back' },
    ]);
    expect([changes.net(), changes.unexplained()]).toEqual([[], []]);
  });

  test('replaces the first only by the fallback model of its beginning, at that price, and once', () => {
    const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
    const replaced: RunAction = {
      type: 'model.replaced',
      ...{ why: 'outage', reason: 'down', text: 'you go on' },
      to: { provider: 'openai', model: 'free', price: free },
    };
    const fallback = { provider: 'anthropic', model: 'claude-opus-5-5', price: null, compactAt: 9_600 };
    const first = stateAfter([turn({ text: 'half' })]);
    const [unasked, asked] = [null, fallback].map((one) =>
      advance({ ...first, fallback: one }, { ...replaced, seq: first.seq + 1, at: 2 }),
    );
    expect(unasked).toMatchObject({ model: first.model, models: first.models });
    expect(asked).toMatchObject({ model: 'claude-opus-5-5', price: null, fallback: null });
    expect(asked?.compaction.settings).toEqual({ ...first.compaction.settings, at: 9_600 });
    expect(asked?.models.map(({ model, turns }) => [model, turns])).toEqual([
      [started.model, 1],
      ['claude-opus-5-5', 0],
    ]);
    expect(asked?.conversation.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'the task' },
          { type: 'text', text: 'you go on' },
        ],
      },
    ]);
  });

  test('begins with the task and waits for the model', () => {
    const state = stateAfter([]);
    expect(state.phase).toEqual({ at: 'model' });
    expect(state.conversation.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'the task' }] },
    ]);
  });

  test('answers all calls of a turn in one message, in the order of the calls', () => {
    const waiting = stateAfter([turn({ calls: [call('a'), call('b')] }), completed('b', 'second')]);
    expect(waiting.phase.at).toBe('tools');
    const state = stateAfter([
      turn({ calls: [call('a'), call('b')] }),
      completed('b', 'second'),
      completed('a', 'first'),
    ]);
    expect(state.phase).toEqual({ at: 'model' });
    expect(state.conversation.messages.at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', callId: 'a', text: 'first', isError: false },
        { type: 'tool_result', callId: 'b', text: 'second', isError: false },
      ],
    });
  });

  test('keeps an assistant turn exactly as it came', () => {
    const content = [
      { type: 'thinking', thinking: '', signature: 's' },
      { type: 'unheard_of', data: { x: 1 } },
    ];
    const state = stateAfter([turn({ content })]);
    expect(state.conversation.messages.at(-1)).toEqual({ role: 'assistant', content });
  });

  test('a turn that was cut off inside a call has calls that must not run', () => {
    const state = stateAfter([turn({ calls: [call('a')], stop: 'max_tokens' })]);
    expect(state.phase).toMatchObject({ at: 'tools', cutOff: true });
    expect(state.cutOffsInARow).toBe(1);
  });

  test('a cut-off text is to be continued, and a whole turn forgets the count', () => {
    const cut = turn({ text: 'half', stop: 'max_tokens' });
    const state = stateAfter([cut, { type: 'message.added', text: 'go on' }, cut]);
    expect(state.phase).toEqual({ at: 'continue' });
    expect(state.cutOffsInARow).toBe(2);
    expect(stateAfter([cut, { type: 'message.added', text: 'go on' }, turn()]).cutOffsInARow).toBe(0);
  });

  test('a paused turn continues without a word from the runner', () => {
    const state = stateAfter([turn({ stop: 'pause_turn', text: 'x' })]);
    expect(state.phase).toEqual({ at: 'model' });
    expect(state.conversation.messages.at(-1)?.role).toBe('assistant');
  });

  test('counts tokens and money, also of attempts that broke', () => {
    const usage = { ...noUsage, input: 1_000_000 };
    const state = stateAfter([retried({ usage, estimated: false }), turn({ usage })]);
    expect(state.usage.input).toBe(2_000_000);
    expect(state.costUsd).toBeCloseTo(4);
    expect(state.isEstimated).toBe(false);
  });

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

  test('what a failed turn used is billed at the price of the requested model', () => {
    const usage = { ...noUsage, input: 1_000_000 };
    const spent = { usage, estimated: false };
    const state = stateAfter([{ type: 'turn.failed', kind: 'stream', message: 'x', spent }]);
    expect(state.costUsd).toBeCloseTo(2);
  });

  test('an answer under an unknown name has the price of the requested model', () => {
    const usage = { ...noUsage, input: 1_000_000 };
    expect(stateAfter([turn({ model: 'an-alias', usage })]).costUsd).toBeCloseTo(2);
  });

  test('the cost of a model without a price is unknown, and stays so', () => {
    const started = { model: 'claude-unheard-of' };
    const usage = { ...noUsage, input: 1 };
    expect(stateAfter([turn({ model: 'claude-unheard-of', usage }), turn()], started).costUsd).toBeNull();
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

  test('knows which calls are in progress and what they are recorded to have changed', () => {
    const state = stateAfter([
      turn({ calls: [call('a'), call('b'), call('c')] }),
      { type: 'tool.started', call: call('a'), iteration: 1 },
      { type: 'tool.started', call: call('b'), iteration: 1 },
      {
        type: 'change.recorded',
        changes: [
          {
            path: 'new',
            from: 'old',
            kind: 'rename',
            before: null,
            after: null,
            source: { by: 'tool', tool: 'run_command', calls: ['a', 'b'] },
            iteration: 1,
          },
        ],
      },
      completed('a'),
    ]);
    expect(state.phase).toMatchObject({
      underWay: new Map([['b', ['old', 'new']]]),
      captured: true,
    });
  });

  test('two calls of one id, as a recording may have them, are answered by one outcome', () => {
    const state = stateAfter([turn({ calls: [call('a'), call('a')] }), completed('a', 'both')]);
    expect(state.phase).toEqual({ at: 'model' });
  });
});
