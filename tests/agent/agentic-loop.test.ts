import { describe, expect, test } from 'vitest';
import { noUsage, type ToolCall } from '../../src/domain/conversation/conversation.ts';
import { call, turn } from '../support/runs/events.ts';
import { type Ended, play } from '../support/runs/play-turns.ts';

const netPaths = ({ loop }: Ended) => loop.state.changes.net().map(({ path }) => path);

describe('the fences', () => {
  test('two calls with one id are both run, once, and the run continues', async () => {
    const twice = call('same', 'read_file', { path: 'a.txt' });
    const ended = await play([turn({ calls: [twice, twice] }), turn()]);
    expect(ended.types.filter((type) => type === 'tool.completed')).toHaveLength(2);
    expect(ended.stop?.why).toBe('completed');
  });

  test('a full context window ends the run, also in the middle of a call', async () => {
    const calls = [call('w', 'write_file', { path: 'a.txt', content: 'x' })];
    const ended = await play([turn({ calls, stop: 'context_window' })]);
    expect(ended.stop).toMatchObject({ why: 'limit', limit: 'context_window' });
    expect(netPaths(ended)).toEqual([]);
  });

  test('cut-off answers are continued three times, and no more', async () => {
    const cut = turn({ text: 'half', stop: 'max_tokens' });
    const ended = await play([cut, cut, cut, cut, cut]);
    expect(ended.requests).toHaveLength(4);
    expect(ended.stop).toMatchObject({ limit: 'output_tokens', used: 4 });
  });
});

describe('at a cap', () => {
  const usage = { ...noUsage, input: 90_000 };
  const write = call('w', 'write_file', { path: 'a.txt', content: 'new\n' });
  const finish = (status: string) => call('f', 'finish', { status, summary: 'As far as it went.' });
  /** The first turn leaves room for the last one only; tokens of a script are its own affair. */
  const atCap = (...calls: ToolCall[]) =>
    play(
      [turn({ calls: [write], usage }), turn({ calls, usage: { ...noUsage, input: 91_000, output: 9 } })],
      {
        limits: { maxTotalTokens: 184_000 },
      },
    );
  const cap = { why: 'limit', limit: 'tokens', value: 184_000 };

  test('the model is told so, once, in a message that changes nothing before it', async () => {
    const ended = await atCap(finish('done'));
    expect(ended.types.filter((type) => type === 'budget.reached')).toHaveLength(1);
    const [first = '', second = ''] = ended.requests.map(({ conversation }) => JSON.stringify(conversation));
    expect(second.startsWith(first.slice(0, -3))).toBe(true);
    const last = ended.requests[1]?.conversation.messages.at(-1)?.content ?? [];
    expect(last.map(({ type }) => type)).toEqual(['tool_result', 'text']);
    expect(ended.requests[1]?.conversation.tools).toBe(ended.requests[0]?.conversation.tools);
  });

  test('its word that the work is done is taken, and verified', async () => {
    expect((await atCap(finish('done'))).stop).toEqual({ why: 'completed', summary: 'As far as it went.' });
  });

  test.each([
    ['says what is missing', finish('blocked')],
    ['calls another tool', call('x', 'write_file', { path: 'a.txt', content: 'late\n' })],
  ])('the run ends with the limit when it %s', async (_what, last) => {
    const ended = await atCap(last);
    expect(ended.stop).toMatchObject(cap);
    expect(ended.requests).toHaveLength(2);
    expect(ended.loop.state.changes.net().map(({ path }) => path)).toEqual(['a.txt']);
  });

  test('nothing but finish is carried out', async () => {
    const ended = await atCap(call('x', 'write_file', { path: 'late.txt', content: '' }), finish('done'));
    expect(netPaths(ended)).toEqual(['a.txt']);
    expect(ended.stop?.why).toBe('completed');
  });

  test('a text instead of finish does not mean that the work is done', async () => {
    expect((await atCap()).stop).toMatchObject(cap);
  });
});

describe('an interruption', () => {
  const signal = { cause: 'signal', signal: 'SIGTERM' } as const;

  test('between two lanes: what has been done is kept, the rest does not run', async () => {
    const interrupt = new AbortController();
    const calls = [
      call('w', 'write_file', { path: 'b', content: '' }),
      call('c', 'run_command', { command: 'touch c' }),
    ];
    const ended = await play([turn({ calls }), turn()], {
      interrupt,
      onEvent: (event) => (event.type === 'tool.completed' ? interrupt.abort(signal) : undefined),
    });
    expect(ended.stop).toEqual({ why: 'interrupted', signal: 'SIGTERM' });
    expect(netPaths(ended)).toEqual(['b']);
  });

  test('by the deadline during verification is a deadline and no failed verification', async () => {
    const interrupt = new AbortController();
    setTimeout(() => interrupt.abort({ cause: 'deadline' }), 300);
    const ended = await play([turn()], { interrupt, start: { verify: ['sleep 30'] } });
    expect(ended.stop?.why).toBe('deadline');
  });
});

test('what no one made is recorded as such before the end', async () => {
  const ended = await play([turn()], {
    async onEvent(event, { sandbox }) {
      if (event.type !== 'turn.completed') return;
      await sandbox.run({ script: 'echo x > stray', timeoutMs: 5_000, signal: new AbortController().signal });
    },
  });
  expect(ended.types).toEqual(['request.sent', 'turn.completed', 'change.recorded', 'run.stopped']);
  expect(ended.loop.state.changes.unexplained()).toEqual([{ path: 'stray', by: 'outside' }]);
  expect(netPaths(ended)).toEqual([]);
});
