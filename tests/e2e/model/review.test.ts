/** Work that another model reviews. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { messagesOf } from '../../support/claude-server/summaries.ts';
import { totalTokens } from '../../support/claude-server/usage.ts';
import { cutRun } from '../../support/runs/recorded-run.ts';
import { OPENAI_KEY, twoVendors, write } from '../../support/runs/two-vendors.ts';

const finding = { severity: 'blocking', path: 'b.txt', line: 1, problem: 'b.txt says new.' };
const submit = (findings: unknown) => ({ calls: [{ name: 'submit_review', input: { findings } }] });

test('another vendor reviews with its own key, its finding goes back, and the run can be replayed', async () => {
  const { claude, openAi, run, runDir, cli } = await twoVendors(
    [{ calls: [write('b.txt')] }, { text: 'Done.' }, { calls: [write('c.txt')] }, { text: 'Fixed.' }],
    [submit([finding])],
    { 'AGENTS.md': 'Say old, never new.\n' },
  );
  const { exitCode, stderr, result } = await run(
    '--review-model',
    'openai/gpt-5.4',
    '--verify',
    'test -f b.txt',
  );
  expect([exitCode, result.outcome, result.summary], stderr).toEqual([0, 'done', 'Fixed.']);
  expect(stderr).toContain('review: 1 finding, blocking');
  expect(stderr).toContain('blocking: b.txt:1: b.txt says new.');
  expect(result.review).toMatchObject({
    provider: 'openai',
    model: 'gpt-5.4',
    status: 'done',
    findings: [finding],
    sentBack: true,
    changedSince: ['c.txt'],
  });
  expect(openAi.requests).toHaveLength(1);
  expect(JSON.stringify(openAi.requests[0]?.body)).toContain('1 +new');
  for (const known of ['Write it', 'Say old, never new.'])
    expect(JSON.stringify(openAi.requests[0]?.body)).toContain(known);
  expect(JSON.stringify(messagesOf(claude.requests[2]?.body ?? {}).at(-1))).toContain('[REVIEW]');
  expect(result.models.map(({ provider, role, turns }) => [provider, role, turns])).toEqual([
    ['anthropic', 'work', 4],
    ['openai', 'review', 1],
  ]);
  expect(result.models.reduce((sum, { tokens }) => sum + tokens.output, 0)).toBe(result.tokens.output);
  expect(readFileSync(join(runDir, 'events.jsonl'), 'utf8')).not.toContain(OPENAI_KEY);
  const replayed = await cli('replay', runDir, '--sandbox', 'off');
  expect([replayed.exitCode, replayed.stderr]).toEqual([0, expect.not.stringContaining('diverged')]);
});

test('a run that is killed around its review is continued, and pays for no second one', async () => {
  const review = submit([{ ...finding, severity: 'note' }]);
  const files = { 'a.txt': 'old\n' };
  const turns = [{ calls: [write('b.txt')] }, { text: 'Done.' }, review];
  const run = await cutRun(files, turns, ['--review'], undefined, { all: true });
  expect([run.result.outcome, run.result.review?.status], run.stderr).toEqual(['done', 'done']);
  const done = run.events.find(({ type }) => type === 'review.completed')?.seq ?? Number.NaN;
  const asked = () =>
    run.server.requests.filter(({ bytes }) => bytes.includes('"name":"submit_review"')).length;
  const bills: unknown[] = [];
  for (const seq of [done - 1, done, done + 1]) {
    run.goBackTo(seq);
    const before = asked();
    const end = await run.resume();
    if (typeof end === 'string') throw new Error(end);
    const { result, patch } = end;
    // How much of it the cache had depends on the moment. What was asked before the kill is estimated.
    const tokens = result.estimated ? 'estimated' : totalTokens(result.tokens);
    bills.push([asked() - before, result.review?.findings.length, tokens, patch]);
  }
  const tokens = totalTokens(run.result.tokens);
  const first = [1, 1, 'estimated', run.patch];
  expect(bills).toEqual([first, [0, 1, tokens, run.patch], [0, 1, tokens, run.patch]]);
});

test('a reviewer that is out leaves the run green, unless that was not wanted', async () => {
  const down = { fault: { kind: 'http', status: 400, message: 'no' } } as const;
  for (const [flags, expected] of [
    [[], [0, 'done']],
    [
      ['--if-not-reviewed', 'error'],
      [9, 'verify_failed'],
    ],
  ] as const) {
    const { run } = await twoVendors([{ calls: [write('b.txt')] }, { text: 'Done.' }, down], []);
    const { exitCode, result } = await run('--review', ...flags);
    expect([exitCode, result.outcome]).toEqual(expected);
    expect(result.review).toMatchObject({ status: 'failed', provider: 'anthropic' });
    expect(result.warnings).toContainEqual(
      expect.stringContaining('[WARN_NOT_REVIEWED] The work was not reviewed: '),
    );
    expect(result.patch).not.toBeNull();
  }
});

test('what the reviewer spends counts, and a cap holds with it', async () => {
  const ended = async (...flags: string[]) => {
    const { claude, run } = await twoVendors((body) => {
      if (JSON.stringify(body.tools).includes('submit_review'))
        return { ...submit([]), outputTokens: Number(body.max_tokens) };
      const isFirst = messagesOf(body).length === 1;
      return { ...(isFirst ? { calls: [write('b.txt')] } : { text: 'Done.' }), outputTokens: 500 };
    }, []);
    const { result, stderr } = await run(...flags);
    const bill = claude.bill();
    expect([result.outcome, result.tokens], stderr).toEqual(['done', bill.usage]);
    expect(result.costUsd).toBeCloseTo(bill.usd ?? Number.NaN, 9);
    return { result, spent: totalTokens(result.tokens), costUsd: Number(result.costUsd) };
  };
  const work = await ended();
  const capped = (tokens: number) => ended('--review', '--max-total-tokens', String(work.spent + tokens));
  const unreviewed = await capped(4_500);
  expect(unreviewed.result.review?.reason).toContain('leave no room for a review');
  expect(unreviewed.spent).toBeLessThanOrEqual(work.spent + 4_500);
  const reviewed = await capped(12_000);
  expect(reviewed.result.review?.status).toBe('done');
  expect(reviewed.spent).toBeGreaterThan(work.spent + 9_000);
  expect(reviewed.spent).toBeLessThanOrEqual(work.spent + 12_000);
  const paid = await ended('--review', '--max-cost-usd', String(work.costUsd + 0.15));
  expect(paid.result.review?.status).toBe('done');
  expect(paid.costUsd).toBeLessThanOrEqual(work.costUsd + 0.15);
});
