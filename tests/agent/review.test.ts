import { describe, expect, test } from 'vitest';
import type { LlmTurn } from '../../src/domain/conversation/conversation.ts';
import { noUsage } from '../../src/domain/conversation/conversation.ts';
import { type Finding, reviewPart, whyUnreviewed } from '../../src/domain/findings/review.ts';
import type { RunAction, RunStarted } from '../../src/domain/run/events.ts';
import { call, turn } from '../support/runs/events.ts';
import { type Ended, play } from '../support/runs/play-turns.ts';

const blocking: Finding = { severity: 'blocking', path: 'a.txt', line: 1, problem: 'It says new.' };
const note: Finding = { severity: 'note', path: 'a.txt', line: null, problem: 'It is short.' };
const used = { ...noUsage, input: 100, output: 10 };

const edit = (id: string, content: string) =>
  turn({ calls: [call(id, 'write_file', { path: 'a.txt', content })], usage: used });

/** An answer of the reviewer: the input of its call, or something else altogether. */
function answered(input: unknown, part: Partial<LlmTurn> = {}): RunAction {
  const made = turn({ calls: [call('r', 'submit_review', input)], usage: used, ...part });
  if (made.type !== 'turn.completed') throw new Error('not a turn');
  return { type: 'review.completed', findings: [], leftOut: 0, turn: made.turn };
}

const start: Partial<RunStarted> = {
  verify: ['true'],
  review: { by: null, ifNotReviewed: 'report' },
  price: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, cacheWrite1h: 1 },
};
const reviewOf = ({ loop: { state } }: Ended) => reviewPart(state.review, state.changes.net());
const asked = ({ requests }: Ended) => requests.filter(({ purpose }) => purpose === 'review');
const ofReview = ({ types }: Ended) => types.filter((type) => /^(review|verify|run)\./.test(type));

describe('finished work', () => {
  test('that changes nothing is not reviewed', async () => {
    const ended = await play([turn({ text: 'Nothing to do.' })], { start });
    expect(asked(ended)).toEqual([]);
    expect(reviewOf(ended)).toMatchObject({ status: 'not_due' });
  });
});

describe('a reviewer that answers without a review', () => {
  const work = [edit('w', 'new\n'), turn({ text: 'Done.' })];

  test('is told about its error, and asked again', async () => {
    const ended = await play(
      [
        ...work,
        answered({ findings: [{ ...note, line: 0 }] }),
        answered(null, {
          calls: [],
          text: 'Fine!',
          content: [{ type: 'text', text: 'Fine!' }],
          stop: 'end_turn',
        }),
        answered({ findings: [] }),
      ],
      { start },
    );
    expect(ofReview(ended).slice(1)).toEqual([
      'review.failed',
      'review.failed',
      'review.completed',
      'run.stopped',
    ]);
    expect(asked(ended).map(({ conversation }) => conversation.messages.length)).toEqual([1, 3, 5]);
    expect(JSON.stringify(asked(ended)[1]?.conversation.messages[2])).toContain('findings.0.line');
    expect(reviewOf(ended)).toMatchObject({ status: 'done', reason: '' });
  });

  test.each<[string, RunAction[], string]>([
    [
      'three times',
      Array.from({ length: 3 }, () => answered({})),
      "The reviewer's answer does not fit its schema: findings: Invalid input: expected array, received undefined.",
    ],
    [
      'since it refuses',
      [answered({}, { stop: 'refusal', stopDetail: 'cyber' })],
      "The reviewer's answer is a refusal (cyber).",
    ],
    [
      'since it was cut off',
      [answered({ findings: [] }, { stop: 'max_tokens' })],
      "The reviewer's answer was cut off.",
    ],
    [
      'since nobody answers',
      [{ type: 'review.failed', kind: 'outage', message: 'It is down.', again: false }],
      'It is down.',
    ],
  ])('%s: the work is done all the same, and it is said', async (_, answers, reason) => {
    const ended = await play([...work, ...answers], { start });
    expect(ended.stop).toEqual({ why: 'completed', summary: 'Done.' });
    const part = reviewOf(ended);
    expect(part).toMatchObject({ status: 'failed', reason });
    expect(whyUnreviewed(part, { changedFiles: 1 })).toBe(
      `The patch was not reviewed: ${reason.slice(0, -1)}`,
    );
  });
});

describe('caps hold', () => {
  test('a blocking finding stays one if no turn is left to fix it', async () => {
    const ended = await play(
      [edit('w', 'new\n'), turn({ text: 'Done.' }), answered({ findings: [blocking] })],
      {
        start,
        limits: { maxIterations: 2 },
      },
    );
    expect(ended.stop).toEqual({ why: 'completed', summary: 'Done.' });
    const part = reviewOf(ended);
    expect(part).toMatchObject({ sentBack: false, findings: [blocking] });
    expect(whyUnreviewed(part, { changedFiles: 1 })).toContain('1 finding, blocking');
  });

  test('a fix round that comes to nothing leaves the work done; one that changed it ends as it ends', async () => {
    const before = [edit('w', 'new\n'), turn({ text: 'Done.' }), answered({ findings: [blocking] })];
    const failed: RunAction = { type: 'turn.failed', kind: 'outage', message: 'It is down.' };
    const untouched = await play([...before, failed], { start });
    expect(untouched.stop).toEqual({ why: 'completed', summary: 'Done.' });
    expect(reviewOf(untouched)).toMatchObject({ sentBack: true, changedSince: [] });
    const touched = await play([...before, edit('x', 'newer\n'), failed], { start });
    expect(touched.stop).toMatchObject({ why: 'provider' });
  });

  test('a fix round with failed verification is not mistaken for the green one before it', async () => {
    const ended = await play(
      [
        edit('w', 'new\n'),
        turn({ text: 'Done.' }),
        answered({ findings: [blocking] }),
        turn({ text: 'It is right.' }),
      ],
      { start: { ...start, verify: ['mkdir once'] }, limits: { maxIterations: 3 } },
    );
    expect(ended.stop).toMatchObject({ why: 'limit', limit: 'iterations' });
  });

  test('the fallback model also replaces the first one as reviewer, and is named', async () => {
    const fallback = { provider: 'openai', model: 'gpt-5.4', price: null };
    const refused: RunAction = { type: 'turn.failed', kind: 'outage', message: 'It is down.' };
    const ended = await play(
      [refused, edit('w', 'new\n'), turn({ text: 'Done.' }), answered({ findings: [] })],
      { start: { ...start, fallback } },
    );
    expect(reviewOf(ended)).toMatchObject({ model: 'gpt-5.4', status: 'done' });
    expect(asked(ended)[0]?.isOfFallback).toBe(true);
  });

  test('a signal during the review is an interruption, the deadline is not', async () => {
    for (const [reason, why] of [
      [{ cause: 'deadline' }, 'completed'],
      [{ cause: 'signal', signal: 'SIGTERM' }, 'interrupted'],
    ] as const) {
      const interrupt = new AbortController();
      const ended = await play(
        [edit('w', 'new\n'), turn({ text: 'Done.' }), answered({ findings: [blocking] })],
        {
          start,
          interrupt,
          onEvent: ({ type }) => (type === 'verify.completed' ? interrupt.abort(reason) : undefined),
        },
      );
      expect([ended.stop?.why, asked(ended).length]).toEqual([why, 0]);
    }
  });
});
