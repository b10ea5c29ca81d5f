import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createEventStream } from '../../../src/adapters/sinks/event-stream.ts';
import { redactorFor } from '../../../src/domain/secrets/redact.ts';
import { emptyResult } from '../../../src/engine/finish/result.ts';
import { started } from '../../support/runs/events.ts';

test('events come as they happen, and the result is the last line', () => {
  const stdout = new PassThrough();
  const stream = createEventStream(stdout, redactorFor(['the task']));
  stream.accept({ ...started, seq: 1, at: 1 });
  expect(JSON.parse(String(stdout.read()))).toEqual({ ...started, prompt: '***', seq: 1, at: 1 });
  stream.close(emptyResult('r', '0'));
  expect(JSON.parse(String(stdout.read()))).toEqual({ type: 'result', ...emptyResult('r', '0') });
});
