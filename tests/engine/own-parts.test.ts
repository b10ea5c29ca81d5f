/** What tools and providers of other programs do wrong, and what becomes of it. */

import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type LlmTurn, noUsage } from '../../src/domain/conversation/conversation.ts';
import { ownProvider, ownTool } from '../../src/engine/own-parts.ts';
import type { LlmProvider, Tool, ToolContext, TurnRequest } from '../../src/ports.ts';
import { said } from '../../src/tools/result.ts';

const never = new AbortController().signal;
const stoppedSoon = () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 1);
  return stop.signal;
};
/** What the types forbid is what is tried here. */
const wrong = (value: unknown) => value as never;
const hung = () => new Promise<never>(() => {});

describe('a tool', () => {
  const called = (execute: () => unknown, signal = never) =>
    ownTool({
      name: 'own',
      description: '',
      schema: z.unknown(),
      lane: 'read',
      execute: execute as Tool['execute'],
    }).execute({}, { signal } as ToolContext);
  const crash = (text: string) => ({
    status: 'failed',
    reason: 'crashed',
    output: { head: expect.stringContaining(text) },
  });

  test('that is right is what it is', async () => {
    expect(await called(async () => said('x'))).toEqual(said('x'));
    expect(await called(() => said('x'))).toEqual(said('x'));
  });

  test.each([
    [
      'throws at once',
      () => {
        throw new Error('at once');
      },
      'unexpectedly: at once',
    ],
    ['rejects', async () => Promise.reject('no error'), 'unexpectedly: no error'],
    ['returns nothing', async () => undefined, 'no result'],
    ['returns null', async () => null, 'no result'],
    ['returns a text', async () => 'text', 'no result'],
    ['has no output', async () => ({ status: 'ok' }), 'no result'],
  ])('that %s costs its call', async (_what, execute, text) => {
    expect(await called(execute)).toMatchObject(crash(text));
  });

  test.each([
    [
      'whose schema throws',
      () =>
        z.unknown().refine(() => {
          throw new Error('in the schema');
        }),
      'in the schema',
    ],
    ['whose schema does not answer at once', () => z.unknown().refine(async () => true), 'Promise'],
    ['whose path throws', () => z.unknown(), 'in the path'],
    ['that refuses its input', () => z.strictObject({ a: z.string() }), 'expected string'],
  ])('%s refuses the input', (what, schema, text) => {
    const target =
      what === 'whose path throws'
        ? {
            target: () => {
              throw new Error('in the path');
            },
          }
        : {};
    const tool = ownTool({
      name: 'own',
      description: '',
      schema: schema(),
      lane: 'write',
      execute: hung,
      ...target,
    });
    const parsed = tool.schema.safeParse({});
    expect(parsed.error?.issues).toMatchObject([{ message: expect.stringContaining(text) }]);
  });

  test('is described as its schema says', () => {
    const schema = z.strictObject({ a: z.string() });
    const tool = ownTool({ name: 'own', description: '', schema, lane: 'read', execute: hung });
    expect(tool.inputSchema).toMatchObject({ properties: { a: { type: 'string' } }, required: ['a'] });
    expect(tool.schema.safeParse({ a: 'x' }).data).toEqual({ a: 'x' });
  });

  test('that never returns is left when the run is stopped', async () => {
    expect(await called(hung, stoppedSoon())).toMatchObject({ status: 'failed', reason: 'interrupted' });
  });
});

describe('a provider', () => {
  const asked = (complete: unknown, signal = never) =>
    ownProvider({ name: 'own', model: 'm', complete: complete as LlmProvider['complete'] }).complete({
      conversation: {
        messages: [
          { role: 'user', content: [{ type: 'tool_result', callId: 'a', text: '', isError: false }] },
        ],
      },
      signal,
    } as unknown as TurnRequest);
  const turn = (more: Partial<LlmTurn> = {}): LlmTurn => ({
    content: [],
    stop: 'tool_use',
    stopDetail: '',
    calls: [],
    text: '',
    usage: noUsage,
    model: 'm',
    durationMs: 0,
    ...more,
  });
  const answers = (given: unknown) => async () => ({ status: 'ok', turn: given });
  const calls = (...ids: string[]) => ids.map((id) => ({ id, name: 'search', input: {} }));

  test('that is right is what it is', async () => {
    expect(await asked(answers(turn({ calls: calls('b') })))).toMatchObject({ status: 'ok' });
    const failure = { status: 'failed', kind: 'outage', message: 'down' };
    expect(await asked(async () => failure)).toEqual(failure);
  });

  test.each([
    [
      'throws at once',
      () => {
        throw new Error('at once');
      },
      'unexpectedly: at once',
    ],
    ['returns nothing', async () => undefined, 'result: '],
    ['returns a turn without fields', answers({ text: '' }), 'turn.content: '],
    [
      'counts no numbers, which no cap would hold',
      answers(turn({ usage: wrong({ ...noUsage, input: Number.NaN }) })),
      'turn.usage.input: ',
    ],
    ['has a stop that is none', answers(turn({ stop: wrong('constructor') })), 'turn.stop: '],
    ['has two calls of one id', answers(turn({ calls: calls('b', 'b') })), 'two calls have the id "b"'],
    ['has a call of an earlier id', answers(turn({ calls: calls('a') })), 'two calls have the id "a"'],
  ])('that %s fails', async (_what, complete, text) => {
    expect(await asked(complete)).toMatchObject({
      status: 'failed',
      kind: 'stream',
      message: expect.stringContaining(text),
    });
  });

  test('that never answers is left when the run is stopped', async () => {
    expect(await asked(hung, stoppedSoon())).toEqual({ status: 'interrupted' });
  });
});
