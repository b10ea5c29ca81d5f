/** What bubblewrap reports about a sandbox on its status descriptor, one JSON document per line. */

import type { Readable } from 'node:stream';
import { identify, type ProcessId } from '../command/process-table.ts';

/** What bubblewrap reports on its status descriptor. */
export interface BubblewrapStatus {
  /**
   * The namespace's init, by its process id outside; null if bubblewrap ended without creating one, or it is gone already.
   */
  readonly init: Promise<ProcessId | null>;
  /** Resolves when bubblewrap has ended: whether the command was started at all. */
  readonly commandStarted: Promise<boolean>;
}

/** Commands cannot write to this descriptor: neither they nor the namespace's init have it. */
export function readStatus(stream: Readable): BubblewrapStatus {
  let text = '';
  const ended = new Promise<void>((resolve) => {
    stream.once('close', resolve);
    stream.once('error', () => resolve());
  });
  const firstLine = new Promise<void>((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.includes('\n')) resolve();
    });
    ended.then(resolve);
  });
  return {
    init: firstLine.then(() => identify(Number(/"child-pid": *(\d+)/.exec(text)?.[1] ?? 0))),
    // The document with the exit code is missing if the setup failed before the command was executed.
    commandStarted: ended.then(() => /"exit-code":/.test(text)),
  };
}
