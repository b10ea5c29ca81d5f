import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepProvisional, openJournal } from '../../../src/adapters/sinks/journal.ts';
import type { RunEvent } from '../../../src/domain/run/events.ts';
import { redactorFor } from '../../../src/domain/secrets/redact.ts';
import { emptyResult } from '../../../src/engine/finish/result.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';
import { started } from '../../support/runs/events.ts';

const hidden = (seq: number, path: string): RunEvent => ({
  type: 'files.hidden',
  paths: [path],
  seq,
  at: seq,
});

test('every event is a line in the file as soon as it has been accepted', () => {
  const path = join(tempFolder(), 'events.jsonl');
  const first = { ...started, seq: 1, at: 1 };
  const journal = openJournal(path, first, (text) => text);
  const events: RunEvent[] = [first, hidden(2, 'a\n"b"\u2028'), hidden(3, 'c')];
  for (const [index, event] of events.entries()) {
    journal.accept(event);
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    expect(lines.map((line) => JSON.parse(line))).toEqual(events.slice(0, index + 1));
  }
  journal.close(emptyResult('r', '0'));
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('secrets are kept out of values and names, and numbers stay numbers', () => {
  const path = join(tempFolder(), 'events.jsonl');
  const input = { path: 'se"cret-value', 'se"cret-value': 'x' };
  const call = { id: 'a', name: 't', input };
  const first = { type: 'tool.started', call, iteration: 1, seq: 1, at: 1234567890 } as const;
  const journal = openJournal(path, first, redactorFor(['se"cret-value', '1234567890']));
  journal.close(emptyResult('r', '0'));
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    type: 'tool.started',
    call: { id: 'a', name: 't', input: { path: '***', '***': 'x' } },
    iteration: 1,
    seq: 1,
    at: 1234567890,
  });
});

test('an older journal is never written over', () => {
  const path = join(tempFolder({ 'events.jsonl': 'older' }), 'events.jsonl');
  expect(() => keepProvisional(path, { ...started, seq: 1, at: 1 }, (text) => text)).toThrow('EEXIST');
  expect(readFileSync(path, 'utf8')).toBe('older');
});
