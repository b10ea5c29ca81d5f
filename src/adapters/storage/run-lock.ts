/** Keeps two processes from working on one run. */

import { statSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * Resolves with a function that lets go, or with null when another process works on the run. The lock is a name of Linux's
 * abstract sockets: the kernel hands it to one process and takes it back when that dies, however it dies.
 */
export function lockRun(runDirectory: string): Promise<(() => void) | null> {
  const { dev, ino } = statSync(runDirectory);
  const server = createServer((stranger) => stranger.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen(`\0patchsmith-run-${dev}-${ino}`, () => {
      server.unref();
      resolve(() => server.close());
    });
  });
}

/** What to say when there is no lock to be had for `runDirectory`. */
export function runIsBusy(runDirectory: string): string {
  return `Another patchsmith is running in ${runDirectory}. Wait for it, or stop it.`;
}
