/** When a pull request may have another round: what is paid for once, the caps, and the pauses. */

import { expect, test } from 'vitest';
import {
  judgeRound,
  type RecordedRound,
  type Round,
  recordedRound,
  roundIn,
} from '../../../src/domain/github/follow-up.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-03-01T12:00:00Z');
const caps = { followUpRounds: 2, followUpsPerDay: 20 };

function round(more: Partial<Round> = {}): Round {
  return {
    pull: 2,
    head: 'a'.repeat(40),
    base: 'b'.repeat(40),
    trigger: 'conflict',
    request: null,
    byPerson: false,
    job: { run: '1', attempt: 1 },
    runId: null,
    ...more,
  };
}

const asked = (more: Partial<Round> = {}) =>
  round({ trigger: 'request', request: 'comment 1', byPerson: true, job: { run: '9', attempt: 1 }, ...more });
const ago = (hours: number, more: Partial<Round> = {}): RecordedRound => ({
  ...round(more),
  at: NOW - hours * HOUR,
});
const next = (more: Partial<Round> = {}) => round({ job: { run: '9', attempt: 1 }, ...more });
const other = (digit: string) => digit.repeat(40);
const judge = (rounds: readonly RecordedRound[], it: Round, few = caps) =>
  judgeRound(rounds, it, { caps: few, now: NOW });
const why = (rounds: readonly RecordedRound[], it: Round, few = caps) => {
  const verdict = judge(rounds, it, few);
  return verdict.status === 'refused' ? verdict.why : verdict.status;
};

test('the first round is due', () => {
  expect(judge([], next())).toEqual({ status: 'due', number: 1, today: 1 });
  expect(judge([], asked())).toEqual({ status: 'due', number: 0, today: 1 });
});

test.each([
  ['the same head, base and trigger, long after', [ago(900)], next()],
  [
    'the same, with the head replaced in between and put back',
    [ago(900), ago(800, { head: other('c') })],
    next(),
  ],
  [
    'the same comment on another head',
    [ago(900, asked())],
    asked({ head: other('c'), job: { run: '10', attempt: 1 } }),
  ],
])('%s is paid for once', (_, rounds, it) => {
  expect(why(rounds, { ...it, job: { run: '77', attempt: 1 } })).toContain('are paid for once');
  // Two pull requests may have the same head.
  expect(judge(rounds, { ...it, pull: 3, job: { run: '77', attempt: 1 } }).status).toBe('due');
  // A person re-runs all jobs.
  const again = { ...it, job: { run: '77', attempt: 2 } };
  expect(judge(rounds, again, { ...caps, followUpRounds: 3 }).status).toBe('due');
});

test('a head that got no commit is left alone for an hour, and twice as long after each more, but not if a person asks', () => {
  const moved = { base: other('d') };
  const many = { ...caps, followUpRounds: 1_000 };
  expect(why([ago(0.9)], next(moved))).toContain('is not continued before 2026-03-01 at 12:06 UTC');
  expect(judge([ago(1)], next(moved)).status).toBe('due');
  expect(why([ago(9), ago(1.9)], next({ base: other('e') }), many)).toContain('is not continued before');
  expect(judge([ago(9), ago(2)], next({ base: other('e') }), many).status).toBe('due');
  expect(judge([ago(0.1)], asked()).status).toBe('due');
  // However many there are, the moment is one that can be named.
  for (const failed of [11, 40, 70, 1_100]) {
    const rounds = Array.from({ length: failed }, (_, at) =>
      ago(failed + 30 - at, asked({ request: `run ${at}` })),
    );
    expect(why(rounds, next(moved), many)).toMatch(/is not continued before 2026-04-\d\d at/);
  }
});

test('the cap of a pull request counts what no person asked for, also what a bot asks for', () => {
  const heads = ['1', '2', '3', '4'].map(other);
  const automatic = heads.slice(0, 2).map((head, at) => ago(20 - at, { head }));
  expect(why(automatic, next({ head: heads[3] ?? '' }))).toContain(
    'was continued 2 times without anyone asking',
  );
  expect(judge([...automatic, ago(9, asked())], next({ head: heads[3] ?? '' }))).toMatchObject({ number: 1 });
  const byBot = heads
    .slice(0, 2)
    .map((head, at) =>
      ago(20 - at, asked({ head, request: `comment ${at}`, byPerson: false, job: { run: '1', attempt: 1 } })),
    );
  const one = asked({ head: heads[3] ?? '', request: 'comment 9', byPerson: false });
  expect(why(byBot, one)).toContain('was continued 2 times without anyone asking');
  expect(why([...automatic.slice(0, 1), ...byBot.slice(1)], one)).toContain('was continued 2 times');
  // A re-run does not pass the caps.
  expect(why(automatic, next({ head: heads[3] ?? '', job: { run: '5', attempt: 9 } }))).toContain(
    'the maximum',
  );
});

test('the cap per day is one for all pull requests, and for requests as well; a moment in the future counts', () => {
  const one = { ...caps, followUpsPerDay: 1 };
  for (const hours of [23.9, 0, -99_999])
    expect(why([ago(hours, { pull: 7 })], asked(), one)).toContain('(1, --follow-ups-per-day)');
  expect(judge([ago(24, { pull: 7 })], asked(), one)).toMatchObject({ status: 'due', today: 1 });
});

test('caps of 0 permit nothing', () => {
  expect(judge([], next(), { ...caps, followUpRounds: 0 }).status).toBe('refused');
  expect(judge([], asked(), { ...caps, followUpRounds: 0 }).status).toBe('due');
  expect(judge([], asked(), { ...caps, followUpsPerDay: 0 }).status).toBe('refused');
});

test('a job finds the round that was recorded for it alone, under its own caps', () => {
  const own = {
    pull: 2,
    head: other('a'),
    trigger: 'conflict',
    job: { run: '1', attempt: 1 },
    runId: 'a',
  } as const;
  expect(recordedRound([ago(1)], own, caps)).toMatchObject({ status: 'recorded', number: 1 });
  expect(recordedRound([ago(1)], own, { ...caps, followUpRounds: 0 })).toMatchObject({ isSpent: true });
  for (const differs of [
    { pull: 3 },
    { head: other('c') },
    { trigger: 'check' as const },
    { job: { run: '2', attempt: 1 } },
    { job: { run: '1', attempt: 2 } },
    { job: null },
  ])
    expect(
      recordedRound([ago(1, { job: differs.job === null ? null : own.job })], { ...own, ...differs }, caps),
    ).toBeNull();
  // One that a run recorded for itself is not that of another step, which is counted as well.
  const itsOwn = ago(1, { job: own.job, runId: 'a' });
  expect(recordedRound([itsOwn], own, caps)).toMatchObject({ status: 'recorded', number: 1 });
  expect(recordedRound([itsOwn], { ...own, runId: 'b' }, caps)).toBeNull();
  expect(recordedRound([itsOwn], { ...own, runId: null }, caps)).toBeNull();
  const first = ago(1, asked({ runId: 'a' }));
  expect(judge([first], asked({ runId: 'b' }))).toMatchObject({ status: 'due', today: 2 });
  expect(why([first], asked({ runId: 'b', job: { run: '10', attempt: 1 } }))).toContain('paid for once');
  // Between preparation and run, somebody else's commit may have come.
  const request = { ...own, trigger: 'request', head: other('c') } as const;
  expect(recordedRound([ago(1, asked({ job: own.job }))], request, caps)).toMatchObject({ number: 0 });
  expect(
    recordedRound([ago(1, asked({ job: own.job }))], { ...request, job: { run: '1', attempt: 2 } }, caps),
  ).toBeNull();
});

test.each([
  ['nothing', ''],
  ['text', 'Merge main\n\nby hand\n'],
  ['other JSON', '{"pull":2}'],
  ['one field more', JSON.stringify({ ...round(), more: 1 })],
  ['a number that is none', JSON.stringify({ ...round(), pull: -1 })],
  ['a head that is a path', JSON.stringify({ ...round(), head: '../../x' })],
  ['a prototype', '{"__proto__":{"pull":2}}'],
  ['depth', '['.repeat(200_000)],
  ['a round that is not the last line', `${JSON.stringify(round())}\nSigned-off-by: eve`],
])('a commit whose message is %s records no round', (_, message) => {
  expect(roundIn(message)).toBeNull();
});
