/** Events for programs as they happen: on stdout with `--output jsonl`, and for users of the library. */

import type { Writable } from 'node:stream';
import type { RunEvent } from '../../domain/run/events.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { type Redact, redactedStrings } from '../../domain/secrets/redact.ts';
import { jsonLine } from '../../domain/text/terminal.ts';
import type { EventSink } from '../../ports.ts';

/** Prints every event on stdout as one line of JSON, and the result at the end. */
export function createEventStream(stdout: Writable, redact: Redact): EventSink {
  return {
    accept(event: RunEvent): void {
      stdout.write(jsonLine(event, redact));
    },
    close(result: RunResult): void {
      stdout.write(jsonLine({ type: 'result', ...result }, redact));
    },
  };
}

/** Calls a function with every event, as in the event stream. */
export function createEventTeller(tell: (event: RunEvent) => void, redact: Redact): EventSink {
  return {
    accept: (event) => tell(redactedStrings(event, redact) as RunEvent),
    close() {},
  };
}
