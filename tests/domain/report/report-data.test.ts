import { describe, expect, test } from 'vitest';
import { boundedDocument, ReportEvents } from '../../../src/domain/report/report-page.ts';
import type { RunEvent } from '../../../src/domain/run/events.ts';
import { redactorFor } from '../../../src/domain/secrets/redact.ts';
import { emptyResult } from '../../../src/engine/finish/empty-result.ts';

const SECRET = 'hunter2-hunter2-hunter2';
const completed = (at: number, output: string): RunEvent => ({
  type: 'tool.completed',
  seq: at,
  at,
  call: 'a',
  outcome: { status: 'ok', text: output },
  durationMs: 1,
});

describe('the events of a report', () => {
  test('hide a secret that lies across the cut', () => {
    const events = new ReportEvents(redactorFor([SECRET]));
    for (let before = 2_970; before < 3_010; before += 1)
      events.accept(completed(before, `${'x'.repeat(before)}${SECRET}${'y'.repeat(5_000)}`));
    expect(events.end().json).not.toMatch(/hunter2/);
  });

  test('are bounded in number and size, and what is left out is said', () => {
    const events = new ReportEvents((given) => given);
    for (let at = 1; at <= 21_000; at += 1) events.accept(completed(at, 'z'.repeat(10_000)));
    const { json, notes } = events.end();
    expect(json.length).toBeLessThan(20 * 1024 * 1024);
    expect(JSON.parse(json)).toHaveLength(20_000);
    expect(notes).toEqual([
      'The texts of later calls are left out, since there are too many of them.',
      '1,000 later events of the run left out.',
      'The journal, events.jsonl, has all of them.',
    ]);
  });
});

test('a document of any size is cut to what a page can show, and says where', () => {
  const { document, cut } = boundedDocument({
    ...emptyResult('r', '1'),
    warnings: Array.from({ length: 6_000 }, () => 'w'.repeat(30_000)),
  });
  expect(document.warnings).toHaveLength(5_000);
  expect(JSON.stringify(document).length).toBeLessThan(17 * 1024 * 1024);
  expect(cut).toEqual(['warnings: 5,000 of 6,000']);
});
