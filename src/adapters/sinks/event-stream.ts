/** `--output jsonl`: the events on stdout as they happen, and the result as the last line. */

import type { Writable } from 'node:stream';
import type { RunEvent } from '../../domain/events.ts';
import type { RunResult } from '../../domain/outcome.ts';
import { type Redact, redactedJson } from '../../domain/redact.ts';
import { inertJson } from '../../domain/terminal-text.ts';
import type { EventSink } from '../../ports.ts';

export function createEventStream(stdout: Writable, redact: Redact): EventSink {
  return {
    accept(event: RunEvent): void {
      stdout.write(`${inertJson(redactedJson(event, redact))}\n`);
    },
    close(result: RunResult): void {
      stdout.write(`${inertJson(redactedJson({ type: 'result', ...result }, redact))}\n`);
    },
  };
}
