/** `events.jsonl`: one event a line, on disk before the run acts on it. */

import { closeSync, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { RunEvent } from '../../domain/events.ts';
import { type Redact, redactedJson } from '../../domain/redact.ts';
import type { EventSink } from '../../ports.ts';

/**
 * Throws what the file system throws: a run that cannot be recorded must not go on. An event is in the file as soon as
 * it is accepted, where a killed process leaves it, and safe from a failing machine after `sync`.
 */
export function openJournal(path: string, redact: Redact): EventSink {
  return journalIn(path, openSync(path, 'wx', 0o600), redact);
}

/** Goes on after the first `bytes` bytes of a journal; what follows them, a torn line, is dropped. */
export function reopenJournal(path: string, bytes: number, redact: Redact): EventSink {
  const file = openSync(path, 'r+');
  ftruncateSync(file, bytes);
  closeSync(file);
  return journalIn(path, openSync(path, 'a'), redact);
}

function journalIn(path: string, file: number, redact: Redact): EventSink {
  let state: 'synced' | 'written' | 'broken' = 'synced';
  // Linux tells of a failed sync once, and the next one may seem to go well.
  function attempt(work: () => void): void {
    if (state === 'broken') throw new Error(`The journal ${path} could not be written.`);
    const before = state;
    state = 'broken';
    work();
    state = before;
  }
  function sync(): void {
    if (state === 'synced') return;
    attempt(() => fdatasyncSync(file));
    state = 'synced';
  }
  return {
    accept(event: RunEvent): void {
      attempt(() => writeAll(file, Buffer.from(`${redactedJson(event, redact)}\n`)));
      state = 'written';
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
