/** Keeps two processes from working on one run, and two runs from working in one work tree. */

import { randomBytes } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import type { Checkout } from '../../git/checkout-layout.ts';

/** Resolves with a function that lets go, or with null when another process works on the run. */
export function lockRun(runDirectory: string): Promise<(() => void) | null> {
  return lockFolder('run', runDirectory, runDirectory);
}

/** The same for a work tree: what two runs change there at the same time cannot be distinguished. */
export function lockWorkTree({
  root,
  gitDir,
}: Pick<Checkout, 'root' | 'gitDir'>): Promise<(() => void) | null> {
  return lockFolder('tree', root, gitDir);
}

/** Whether a process works on the run. Leaves no trace in its directory. */
export async function isRunLocked(runDirectory: string): Promise<boolean> {
  const name = lockName('run', statSync(runDirectory, { bigint: true }));
  const letGo = await takeName(name);
  if (letGo === null) return true;
  letGo();
  const folder = openFolder(runDirectory);
  if (folder === null) return false;
  try {
    return await hasAnswer(folder.place, name, null);
  } finally {
    folder.close();
  }
}

/** Locks `folder`, by its name and by a socket in `shared`. */
async function lockFolder(kind: LockKind, folder: string, shared: string): Promise<(() => void) | null> {
  const name = lockName(kind, statSync(folder, { bigint: true }));
  const letGo = await takeName(name);
  if (letGo === null) return null;
  const leave = await announce(name, shared);
  if (leave === null) letGo();
  let isHeld = leave !== null;
  return (
    leave &&
    (() => {
      if (!isHeld) return;
      isHeld = false;
      leave();
      letGo();
    })
  );
}

/**
 * The lock is a name of Linux's abstract sockets: the kernel hands it to one process and takes it back when that dies, however
 * it dies, so that none is ever stale. It names the folder itself, whatever path leads there.
 */
function takeName(name: string): Promise<(() => void) | null> {
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

type LockKind = 'run' | 'tree';

/** Inodes need all their digits: those of overlays and network file systems go beyond what a number holds exactly. */
export function lockName(kind: LockKind, { dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string {
  return `\0patchsmith-${kind}-${dev}-${ino}`;
}

/** What the sockets of locks are called that stand in a run directory. */
export const RUN_SOCKET = /^patchsmith-run-[\d-]+-[0-9a-f]{16}\.sock$/;

/**
 * The name above is one of a network namespace, and containers that share a folder have one each. A socket in a folder is
 * found from all of them, and answers as long as its process lives. Its name is never used again, and everybody puts up a
 * socket before looking for others: of two that come at once neither is overlooked, and one that does not answer can be removed.
 * Resolves with what removes the own one, or with null when another answers. A folder that takes no socket, such as a read-only
 * one, is only looked into.
 */
async function announce(name: string, path: string): Promise<(() => void) | null> {
  const folder = openFolder(path);
  if (folder === null) return () => {};
  const own = `${socketsOf(name)}${randomBytes(8).toString('hex')}.sock`;
  const server = await listening(`${folder.place}/${own}`);
  const leave = () => {
    // The server removes its socket when it closes, by way of the open folder.
    server?.close();
    folder.close();
  };
  if (!(await hasAnswer(folder.place, name, own))) return leave;
  leave();
  return null;
}

/** Copies of a folder have what is in it. */
function socketsOf(name: string): string {
  return `${name.slice(1)}-`;
}

/** Null for a path that is no folder. Names of sockets are short, and `place` is a short one. */
function openFolder(path: string): { readonly place: string; close(): void } | null {
  const handle = orNull(() =>
    openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW),
  );
  return handle === null ? null : { place: `/proc/self/fd/${handle}`, close: () => closeSync(handle) };
}

/** Whether a process answers for this name, besides the one with the socket `own`. */
async function hasAnswer(place: string, name: string, own: string | null): Promise<boolean> {
  const names = orNull(() => readdirSync(place)) ?? [];
  const others = names.filter((other) => other.startsWith(socketsOf(name)) && other !== own);
  const answers = await Promise.all(
    others.slice(0, MAX_ASKED).map((other) => isAnswered(`${place}/${other}`)),
  );
  return answers.includes(true);
}

/** Null for what the file system refuses. */
function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

/** More are in no folder but one that was made to hold us up. */
const MAX_ASKED = 100;

/** Null where none can be made. */
function listening(path: string): Promise<Server | null> {
  const server = createServer((stranger) => stranger.destroy());
  return new Promise((resolve) => {
    server.on('error', () => resolve(null));
    server.listen({ path, writableAll: true }, () => resolve(server.unref()));
  });
}

/** Removes a socket whose process is gone. */
function isAnswered(path: string): Promise<boolean> {
  if (!orNull(() => lstatSync(path))?.isSocket()) return Promise.resolve(false);
  return new Promise((resolve) => {
    const asking = connect(path, () => {
      asking.destroy();
      resolve(true);
    });
    asking.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') orNull(() => rmSync(path, { force: true }));
      // Too many ask it at once.
      resolve(code === 'EAGAIN');
    });
  });
}

/** The message if the lock for `runDirectory` is taken. */
export function runIsBusy(runDirectory: string): string {
  return `Another patchsmith is running in ${runDirectory}. Wait for it, or stop it.`;
}

/** What to say when another run works in the work tree at `root`. */
export function treeIsBusy(root: string): string {
  return `Another run of patchsmith is working in ${root}. Wait for it, stop it, or use another checkout (git worktree add).`;
}
