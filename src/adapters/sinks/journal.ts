/**
 * `events.jsonl`: one event per line, on disk before the run acts on it; and events for programs as they happen, on stdout with
 * `--output jsonl` and for users of the library.
 */

import { closeSync, fdatasyncSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { RunEvent } from '../../domain/run/events.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { type Redact, redactedJson, redactedStrings } from '../../domain/secrets/redact.ts';
import { jsonLine } from '../../domain/text/terminal.ts';
import { replaceFile } from '../../files/replace-file.ts';
import type { EventSink } from '../../ports.ts';

/**
 * Throws file system errors: a run that cannot be recorded must not continue. An event is in the file as soon as it
 * is accepted, so that it survives a killed process; after `sync` it also survives a crash of the machine.
 */
export function openJournal(path: string, first: RunEvent, redact: Redact): EventSink {
  replaceFile(path, `${redactedJson(first, redact)}\n`);
  const journal = journalIn(openSync(path, 'a'), redact);
  return { ...journal, accept: (event) => event.seq > first.seq && journal.accept(event) };
}

/** A journal for as long as the first event is not known yet: `openJournal` replaces it in one step. */
export function keepProvisional(path: string, first: RunEvent, redact: Redact): void {
  writeFileSync(path, `${redactedJson(first, redact)}\n`, { flag: 'wx', mode: 0o600 });
}

/** Continues after the first `bytes` bytes of a journal; anything after them, a torn line, is dropped. */
export function reopenJournal(path: string, bytes: number, redact: Redact): EventSink {
  const file = openSync(path, 'r+');
  ftruncateSync(file, bytes);
  closeSync(file);
  return journalIn(openSync(path, 'a'), redact);
}

function journalIn(file: number, redact: Redact): EventSink {
  let isSynced = false;
  let failure: unknown = null;
  // Linux reports a failed sync once, and the next one may appear to succeed.
  function attempt(work: () => void): void {
    if (failure !== null) throw failure;
    try {
      work();
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  function sync(): void {
    if (!isSynced) attempt(() => fdatasyncSync(file));
    isSynced = true;
  }
  return {
    accept(event: RunEvent): void {
      isSynced = false;
      attempt(() => writeAll(file, Buffer.from(`${redactedJson(event, redact)}\n`)));
    },
    sync,
    close(): void {
      try {
        sync();
      } finally {
        closeSync(file);
      }
    },
  };
}

function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
}

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
