/** The bill of whole runs against the least that any use of the cache could cost. */

import { describe, expect, test } from 'vitest';
import type { Conversation, Message } from '../../../src/domain/conversation/conversation.ts';
import { positionsOf, type RequestBody } from '../../support/claude-server/checks/prefix.ts';
import type { ScriptedTurn } from '../../support/claude-server/script.ts';
import type { SeenRequest } from '../../support/claude-server/server.ts';
import { sampled } from '../../support/setup/sample.ts';
import { answered, asking, plainConversation, turnOf } from './asking.ts';

/** USD per token of claude-sonnet-5-5. */
const price = { input: 2e-6, output: 10e-6, write: 2.5e-6, read: 0.1e-6 };

/**
 * A lower bound that no cache can beat: every block is paid in full once, at the price of a write when it is needed
 * again, and read at the price of a read ever after. Knows the future, and ignores minimum sizes and look-back.
 */
function leastCost(requests: readonly SeenRequest[]): number {
  let usd = 0;
  let known = 0;
  requests.forEach(({ body, usage }, index) => {
    const tokens = positionsOf(body as RequestBody).reduce((sum, position) => sum + position.tokens, 0);
    const isLast = index === requests.length - 1;
    usd += known * price.read + (tokens - known) * (isLast ? price.input : price.write);
    usd += (usage?.output ?? 0) * price.output;
    known = tokens;
  });
  return usd;
}

/** Calls of turn `n`: mostly a few, 25 or more now and then. */
type CallsOf = (n: number) => number;

async function costRatio(turns: number, callsOf: CallsOf): Promise<{ ratio: number; cacheRead: number }> {
  const script = (_request: unknown, n: number): ScriptedTurn =>
    n === turns - 1
      ? { text: 'Done.' }
      : {
          text: `Step ${n}: I look at some files and then decide.`,
          calls: Array.from({ length: callsOf(n) }, (_, i) => ({
            name: 'read_file',
            input: { path: `src/module-${n}/part-${i}.ts` },
          })),
        };
  const { server, ask } = await asking(script);
  const plain = plainConversation();
  const [first, ...rest] = plain.messages;
  if (first?.role !== 'user') throw new Error('the task comes first');
  const task: Message = { role: 'user', content: [{ type: 'text', text: 'The task. '.repeat(400) }] };
  let conversation: Conversation = {
    ...plain,
    system: 'You change code. '.repeat(150),
    messages: [task, ...rest],
  };
  for (let n = 0; n < turns; n += 1) {
    const turn = turnOf(await ask(conversation));
    const results: Message = {
      role: 'user',
      content: turn.calls.map((call, i) => ({
        type: 'tool_result',
        callId: call.id,
        text: `line ${i}\n`.repeat(40 + ((n * 37 + i * 101) % 300)),
        isError: false,
      })),
    };
    conversation = { ...conversation, messages: [...conversation.messages, answered(turn), results] };
  }
  const { usd, usage } = server.bill();
  return {
    ratio: (usd ?? Number.NaN) / leastCost(server.requests),
    cacheRead: usage.cacheRead / (usage.cacheRead + usage.input + usage.cacheWrite),
  };
}

describe('the bill of a run stays within 1.05 of the least possible', () => {
  const RUNS: [string, number, CallsOf][] = [
    ['30 turns of one to three calls', 30, (n) => 1 + (n % 3)],
    ['30 turns, three of them with 25 calls', 30, (n) => (n % 10 === 5 ? 25 : 2)],
    ['30 turns, all with 25 calls', 30, () => 25],
    ['12 turns, one of them with 60 calls', 12, (n) => (n === 6 ? 60 : 1)],
  ];

  test.each(sampled(RUNS, ([, turns]) => `${turns} turns`, 1))('%s', async (_name, turns, callsOf) => {
    const { ratio, cacheRead } = await costRatio(turns, callsOf);
    expect(ratio).toBeGreaterThanOrEqual(1);
    expect(ratio).toBeLessThanOrEqual(1.05);
    expect(cacheRead).toBeGreaterThan(0.7);
  });
});
