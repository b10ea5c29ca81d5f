import { expect, test } from 'vitest';
import { runOf } from '../../page/run.ts';
import type { ReportData } from '../../src/domain/report/report-data.ts';

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
const turn = (at: number, ms: number) =>
  ({ type: 'turn', at, ms, model: 'm', stop: 'tool_use', text: '', costUsd: 0, usage, calls: [] }) as const;
const lost = (at: number, waitMs: number) =>
  ({ type: 'lost', at, waitMs, text: 'rate_limit: 429', costUsd: 0, usage: null }) as const;
const runFrom = (events: ReportData['events']) => runOf({ events } as ReportData).iterations;

test('the pause before another attempt belongs to the answer that is waited for', () => {
  const [, first, second] = runFrom([turn(1_000, 1_000), lost(1_500, 20_000), turn(22_000, 21_000)]);
  expect(first).toMatchObject({ spans: [{ kind: 'model', from: 0, to: 1_000 }], notes: [] });
  expect(second).toMatchObject({
    spans: [
      { kind: 'model', from: 1_000, to: 1_500 },
      { kind: 'wait', from: 1_500, to: 21_500 },
      { kind: 'model', from: 21_500, to: 22_000 },
    ],
    notes: [{ text: 'rate_limit: 429' }],
  });
});

test('where no answer came any more, it is reported with the last one', () => {
  const [, first] = runFrom([turn(1_000, 1_000), lost(1_500, 0)]);
  expect(first).toMatchObject({
    spans: [{ kind: 'model' }, { kind: 'wait', from: 1_500, to: 1_500 }],
    notes: [{ text: 'rate_limit: 429' }],
  });
});
