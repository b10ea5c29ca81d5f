/** What bubblewrap tells about a sandbox on its status descriptor, one JSON document a line. */

import type { Readable } from 'node:stream';
import type { PidNamespace } from './pid-namespace.ts';
import { identify } from './process-table.ts';

export interface BubblewrapStatus {
  /** Null when bubblewrap ended without making one, or its init is gone already. */
  readonly namespace: Promise<PidNamespace | null>;
  /** Resolves when bubblewrap has ended: whether the command was started at all. */
  readonly commandStarted: Promise<boolean>;
}

/** Commands cannot write to this descriptor: neither they nor the namespace's init hold it. */
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
    namespace: firstLine.then(() => {
      const number = (name: string) => new RegExp(`"${name}": *(\\d+)`).exec(text)?.[1] ?? null;
      const init = identify(Number(number('child-pid') ?? 0));
      return init && { init, inode: number('pid-namespace') };
    }),
    // The document with the exit code is left out when the setup failed before the command was executed.
    commandStarted: ended.then(() => /"exit-code":/.test(text)),
  };
}
