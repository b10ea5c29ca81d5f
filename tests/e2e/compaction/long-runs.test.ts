import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../../src/domain/run/events.ts';
import type { Block } from '../../support/claude-server/script.ts';
import { answersIn, asksForSummary, messagesOf, summaryOf } from '../../support/claude-server/summaries.ts';
import { totalTokens } from '../../support/claude-server/usage.ts';
import { makeRepository, type Repository, temporaryFolder } from '../../support/files/repository.ts';
import { partsOf } from '../../support/runs/compacted-run.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { call, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { IS_FULL } from '../../support/setup/sample.ts';

const TURNS = IS_FULL ? 200 : 100;
const AT = 8_000;

const files = partsOf(TURNS, 100);

/** Reads one file a turn, and writes what the last one was to another; at the end it says so. */
function reading(request: Record<string, unknown>, at = answersIn(request)) {
  if (asksForSummary(request)) return summaryOf(request);
  if (at === TURNS) return { text: 'I have read all of them.' };
  const note = call('write_file', { path: 'read.txt', content: `${at}\n` });
  return { calls: [call('read_file', { path: `part-${at}.txt` }), ...(at % 10 === 9 ? [note] : [])] };
}

async function longRun(args: readonly string[], repository?: Repository): Promise<FinishedRun> {
  return scriptedRun({
    repository: repository ?? (await makeRepository(files)),
    // Without summaries nothing in a request says how far the model has come.
    turns: (request, index) => (args.includes('none') ? reading(request, index) : reading(request)),
    args: ['--sandbox', 'off', '--max-iterations', '300', ...args],
  });
}

const compactionsIn = ({ events }: FinishedRun) =>
  events.flatMap((event: RunEvent) => (event.type === 'context.compacted' ? [event] : []));
const textsIn = (content: readonly Block[]) =>
  content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));

/** Each request ends with the result of the call before it. */
function expectResultsSeen(work: readonly Readonly<Record<string, unknown>>[]) {
  const last = work.slice(1).map((body) => JSON.stringify(messagesOf(body).at(-1)));
  expect(last.map((text) => /this is part (\d+);/.exec(text)?.[1])).toEqual(
    Array.from({ length: TURNS }, (_, at) => String(at)),
  );
}

describe('a run of a hundred turns and more', () => {
  test('is summarised again and again, and every later result is seen', async () => {
    const repository = await makeRepository(files);
    const run = await longRun(['--compact-at', String(AT)], repository);
    expect(run.lastLine, run.stderr).toBe('patchsmith: done (exit 0): 1 file changed, nothing to verify.');
    expect(run.server.requests.flatMap(({ refused }) => refused ?? [])).toEqual([]);

    const requests = run.server.requests.map(({ body }) => body ?? {});
    const work = requests.filter((body) => !asksForSummary(body));
    const [task] = textsIn(messagesOf(requests[0] ?? {})[0]?.content ?? []);
    // The last result is there, and the task, in each of them.
    expect(work.map((body) => messagesOf(body)[0]?.content[0]?.text)).toEqual(work.map(() => task));
    expectResultsSeen(work);
    // No summary but the newest.
    for (const body of work) expect(JSON.stringify(body).split('<summary>').length).toBeLessThanOrEqual(2);

    const compactions = compactionsIn(run);
    expect(compactions.length).toBeGreaterThan(TURNS / 40);
    expect(compactions.every(({ tokens }) => tokens >= AT && tokens < AT + 2_000)).toBe(true);
    const turns = run.result.compactions.map(({ iteration }) => iteration);
    const apart = turns.slice(1).map((iteration, at) => iteration - (turns[at] ?? 0));
    expect(Math.min(...apart)).toBeGreaterThan(8);
    expect(run.result.compactions.map(({ kept }) => kept)).toEqual(turns.map(() => 6));

    // What summaries took is in the bill.
    expect(run.result.iterations).toBe(TURNS + 1);
    expect(run.result.tokens).toEqual(run.server.bill().usage);
    expect(run.result.costUsd).toBeCloseTo(run.server.bill().usd ?? 0, 10);
    const ofSummaries = run.result.compactions.reduce((sum, { usage }) => sum + totalTokens(usage), 0);
    expect(ofSummaries).toBeGreaterThan(compactions.length * (AT / 3));
    expect(run.stderr).toMatch(
      /\[\d+\] the conversation of [\d,]+ tokens was summarised: \d+ messages in \d+ tokens\n/,
    );
    expect(run.result.warnings).toEqual([]);

    const replayed = await cliHere(['replay', run.runDir, '--repo', repository.root, '--sandbox', 'off'], {
      cwd: temporaryFolder(),
      env: { PATH: process.env.PATH, HOME: process.env.HOME, XDG_STATE_HOME: temporaryFolder() },
    });
    expect(replayed.stderr).toMatch(/events replayed to the same patch, byte for byte/);
  });

  testAtNight('without compaction is sent whole, to the end', async () => {
    const run = await longRun(['--compaction', 'none', '--compact-at', '2000']);
    expect(compactionsIn(run)).toEqual([]);
    expect(messagesOf(run.server.requests.at(-1)?.body ?? {})).toHaveLength(2 * TURNS + 1);
  });
});

test('a file that was summarised away has to be read again before it is replaced whole', async () => {
  const repository = await makeRepository({ ...files, 'kept.txt': 'one\ntwo\n' });
  const turns = 20;
  const run = await scriptedRun({
    repository,
    turns: (request) => {
      if (asksForSummary(request)) return summaryOf(request);
      const at = answersIn(request);
      if (at === 0) return { calls: [call('read_file', { path: 'kept.txt' })] };
      if (at < turns) return { calls: [call('read_file', { path: `part-${at}.txt` })] };
      const replace = { calls: [call('write_file', { path: 'kept.txt', content: 'all new\n' })] };
      if (at === turns) return replace;
      if (at === turns + 1) return { calls: [call('read_file', { path: 'kept.txt' })] };
      return at === turns + 2 ? replace : { text: 'Done.' };
    },
    args: ['--sandbox', 'off', '--max-iterations', '50', '--compact-at', '5000'],
  });
  const outcomes = run.events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome] : []));
  expect(outcomes[turns]).toMatchObject({ status: 'failed', reason: 'conflict' });
  expect(outcomes[turns]?.text).toContain('read the rest first');
  expect(readFileSync(join(repository.root, 'kept.txt'), 'utf8')).toBe('all new\n');
});
