/** `events.jsonl`: one event a line, on disk before the run acts on it. */

import { closeSync, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { RunEvent } from '../../domain/events.ts';
import { type Redact, redactedJson } from '../../domain/redact.ts';
import type { EventSink } from '../../ports.ts';

/**
 * Throws what the file system throws: a run that cannot be recorded must not go on. A recorded change is synced
 * together with the event that follows it, since only that one lets the run act.
 */
export function openJournal(path: string, redact: Redact): EventSink {
  return journalIn(openSync(path, 'wx', 0o600), redact);
}

/** Goes on after the first `bytes` bytes of a journal; what follows them, a torn line, is dropped. */
export function reopenJournal(path: string, bytes: number, redact: Redact): EventSink {
  const file = openSync(path, 'r+');
  ftruncateSync(file, bytes);
  closeSync(file);
  return journalIn(openSync(path, 'a'), redact);
}

function journalIn(file: number, redact: Redact): EventSink {
  return {
    accept(event: RunEvent): void {
      writeAll(file, Buffer.from(`${redactedJson(event, redact)}\n`));
      if (event.type !== 'change.recorded') fdatasyncSync(file);
    },
    close(): void {
      fdatasyncSync(file);
      closeSync(file);
    },
  };
}

function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
}
