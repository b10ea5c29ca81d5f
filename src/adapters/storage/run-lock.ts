/** Keeps two processes from working on one run, and two runs from working in one work tree. */

import { type BigIntStats, statSync } from 'node:fs';
import { createServer } from 'node:net';

/** Resolves with a function that lets go, or with null when another process works on the run. */
export function lockRun(runDirectory: string): Promise<(() => void) | null> {
  return lockFolder('run', runDirectory);
}

/** The same for the work tree at `root`: what two runs change there at the same time cannot be distinguished. */
export function lockWorkTree(root: string): Promise<(() => void) | null> {
  return lockFolder('tree', root);
}

/**
 * The lock is a name of Linux's abstract sockets: the kernel hands it to one process and takes it back when that dies, however
 * it dies, so that none is ever stale. It names the folder itself, whatever path leads there.
 */
function lockFolder(kind: 'run' | 'tree', folder: string): Promise<(() => void) | null> {
  const name = lockName(kind, statSync(folder, { bigint: true }));
  const server = createServer((stranger) => stranger.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen(name, () => {
      server.unref();
      resolve(() => server.close());
    });
  });
}

/** Inodes need all their digits: those of overlays and network file systems go beyond what a number holds exactly. */
export function lockName(kind: 'run' | 'tree', { dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string {
  return `\0patchsmith-${kind}-${dev}-${ino}`;
}

/** The message if the lock for `runDirectory` is taken. */
export function runIsBusy(runDirectory: string): string {
  return `Another patchsmith is running in ${runDirectory}. Wait for it, or stop it.`;
}

/** What to say when another run works in the work tree at `root`. */
export function treeIsBusy(root: string): string {
  return `Another run of patchsmith is working in ${root}. Wait for it, stop it, or use another checkout (git worktree add).`;
}
