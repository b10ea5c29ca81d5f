import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReportEvents } from '../../../src/domain/report/report-events.ts';
import { boundedDocument, pageJson, reportPage } from '../../../src/domain/report/report-page.ts';
import type { RunEvent } from '../../../src/domain/run/events.ts';
import { redactorFor } from '../../../src/domain/secrets/redact.ts';
import { emptyResult } from '../../../src/engine/finish/result.ts';

const SECRET = 'hunter2-hunter2-hunter2';

const LIVE = [
  '</script>',
  '<!--',
  '<script>',
  '\u2028',
  '\u202e',
  '\ud800',
  '##[error]',
  '::error::',
  '"',
  '\\',
];
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...LIVE)).map((parts) => parts.join('')),
);

const completed = (at: number, output: string): RunEvent => ({
  type: 'tool.completed',
  seq: at,
  at,
  call: 'a',
  outcome: { status: 'ok', text: output },
  durationMs: 1,
});

describe('what is put into a page', () => {
  test('ends no element, opens no comment and is live in no log, whatever it says; and says the same', () => {
    fc.assert(
      fc.property(fc.dictionary(text, text), (document) => {
        const json = pageJson(document);
        expect(json).not.toMatch(/<|[\u2028\u2029\u202a-\u202e\ud800-\udfff]|##\[/u);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(document)));
      }),
    );
  });

  test('is put in once: a mark of the page in the text of a run stays text', () => {
    const marks = '<!--=patch=-->$&<img src=x onerror=alert(1)>';
    const result = { ...emptyResult('r', '1'), reason: marks };
    const data = {
      madeAt: 0,
      madeBy: '1',
      result,
      patch: { bytes: 0, why: null },
      files: [],
      flagMeanings: {},
      notes: [],
    };
    const page = reportPage('<!--=reason=-->|<!--=data=-->|<!--=patch=-->', data, {
      events: '[]',
      patchBase64: 'QUJD',
    });
    const [reason = '', json = '', patch] = page.split('|');
    expect(reason).toBe('&#60;!--=patch=--&#62;$&#38;&#60;img src=x onerror=alert(1)&#62;');
    expect(JSON.parse(json)).toEqual({ ...data, events: [] });
    expect(patch).toBe('QUJD');
  });
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
