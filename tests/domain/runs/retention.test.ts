import { expect, test } from 'vitest';
import { type RunSummary, runsToRemove } from '../../../src/domain/runs.ts';

const DAY = 24 * 3_600_000;
const NOW = 100 * DAY;

/** A run that ended so many days ago. */
const run = (days: number, part: Partial<RunSummary> = {}): RunSummary => ({
  runId: String(1_000 - days),
  path: `/runs/${days}`,
  place: 'default',
  status: 'finished',
  outcome: 'done',
  exitCode: 0,
  replayOf: null,
  startedAt: null,
  changedAt: NOW - days * DAY,
  root: null,
  plan: null,
  costUsd: 0,
  bytes: 10,
  isAtLeast: false,
  problem: null,
  ...part,
});

const removed = (runs: readonly RunSummary[], rules: Partial<Parameters<typeof runsToRemove>[1]>) =>
  runsToRemove(runs, { olderThanMs: null, maxTotalBytes: 1_000, keepFailed: false, ...rules }, NOW).map(
    ({ path }) => path,
  );

test('what is older goes, and beyond the size the oldest, but never the newest', () => {
  const runs = [run(1), run(2), run(3), run(4)];
  expect(removed(runs, {})).toEqual([]);
  expect(removed(runs, { olderThanMs: 2.5 * DAY })).toEqual(['/runs/4', '/runs/3']);
  expect(removed(runs, { maxTotalBytes: 25 })).toEqual(['/runs/4', '/runs/3']);
  expect(removed(runs, { maxTotalBytes: 1 })).toEqual(['/runs/4', '/runs/3', '/runs/2']);
  expect(removed(runs, { olderThanMs: 0, maxTotalBytes: 1 })).toHaveLength(4);
});

test('what is running, unreadable, elsewhere or dead for less than a day stays, and failed runs if asked', () => {
  const runs = [
    run(9, { status: 'running', exitCode: null }),
    run(8, { status: 'unreadable', exitCode: null }),
    run(7, { place: 'elsewhere' }),
    run(0.5, { status: 'died', exitCode: null }),
    run(6, { status: 'died', exitCode: null }),
    run(5, { exitCode: 9 }),
    run(4),
  ];
  expect(removed(runs, { olderThanMs: 0 })).toEqual(['/runs/6', '/runs/5', '/runs/4']);
  expect(removed(runs, { olderThanMs: 0, keepFailed: true })).toEqual(['/runs/4']);
});
