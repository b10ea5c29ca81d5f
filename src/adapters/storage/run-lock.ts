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
import { connect, createServer, type ListenOptions, Server } from 'node:net';
import { orNone } from '../../files/failures.ts';
import type { Checkout } from '../../git/checkout-layout.ts';

/** Resolves with a function that releases the lock, or with null if another process is working on the run. */
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

/** Whether a process is working on the run. Leaves no trace in its directory. */
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
  let leave = await announce(name, shared);
  if (leave === null) {
    letGo();
    return null;
  }
  return () => {
    if (leave === null) return;
    leave();
    leave = null;
    letGo();
  };
}

/**
 * The lock is the name of a Linux abstract socket: the kernel gives it to one process and takes it back however that
 * process dies, so that no lock is ever stale. It identifies the folder itself, by any path.
 */
async function takeName(name: string): Promise<(() => void) | null> {
  const server = await listening({ path: name });
  if (server instanceof Server) return () => server.close();
  if (server.code === 'EADDRINUSE') return null;
  throw server;
}

type LockKind = 'run' | 'tree';

/** Inodes need all their digits: on overlays and network file systems they exceed what a number represents exactly. */
export function lockName(kind: LockKind, { dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string {
  return `\0patchsmith-${kind}-${dev}-${ino}`;
}

/** The name of lock sockets in a run directory. */
export const RUN_SOCKET = /^patchsmith-run-[\d-]+-[0-9a-f]{16}\.sock$/;

/**
 * The name above belongs to a network namespace, and containers that share a folder each have their own. A socket in
 * a folder can be found from all of them, and answers as long as its process lives. Its name is never reused, and
 * every process creates its socket before it looks for others, so that two that start at once see each other, and one
 * that does not answer can be removed. Resolves with a function that removes our own socket, or with null if another
 * answers. In a folder that permits no socket, such as a read-only one, it only looks for others.
 */
async function announce(name: string, path: string): Promise<(() => void) | null> {
  const folder = openFolder(path);
  if (folder === null) return () => {};
  const own = `${socketsOf(name)}${randomBytes(8).toString('hex')}.sock`;
  const server = await listening({ path: `${folder.place}/${own}`, writableAll: true });
  const leave = () => {
    // The server removes its socket when it closes, through the open folder.
    if (server instanceof Server) server.close();
    folder.close();
  };
  if (!(await hasAnswer(folder.place, name, own))) return leave;
  leave();
  return null;
}

/** Specific to the folder, since a copy of a folder contains the sockets, too. */
function socketsOf(name: string): string {
  return `${name.slice(1)}-`;
}

/** Null for a path that is not a folder. Socket paths have to be short, and `place` is one. */
function openFolder(path: string): { readonly place: string; close(): void } | null {
  const handle = orNone(() =>
    openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW),
  );
  return handle === null ? null : { place: `/proc/self/fd/${handle}`, close: () => closeSync(handle) };
}

/** Whether a process other than the one with the socket `own` answers for this name. */
async function hasAnswer(place: string, name: string, own: string | null): Promise<boolean> {
  const names = orNone(() => readdirSync(place)) ?? [];
  const others = names.filter((other) => other.startsWith(socketsOf(name)) && other !== own);
  const answers = await Promise.all(
    others.slice(0, MAX_ASKED).map((other) => isAnswered(`${place}/${other}`)),
  );
  return answers.includes(true);
}

/** Only a folder made to delay us has more. */
const MAX_ASKED = 100;

/** A socket whose connections are closed at once, or why there is none. */
function listening(at: ListenOptions): Promise<Server | NodeJS.ErrnoException> {
  const server = createServer((stranger) => stranger.destroy());
  return new Promise((resolve) => {
    server.on('error', resolve);
    server.listen(at, () => resolve(server.unref()));
  });
}

/** Removes a socket whose process is gone. */
function isAnswered(path: string): Promise<boolean> {
  if (!orNone(() => lstatSync(path))?.isSocket()) return Promise.resolve(false);
  return new Promise((resolve) => {
    const asking = connect(path, () => {
      asking.destroy();
      resolve(true);
    });
    asking.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') orNone(() => rmSync(path, { force: true }));
      // Too many processes are connecting to it at once.
      resolve(code === 'EAGAIN');
    });
  });
}

/** The message if the lock for `runDirectory` is taken. */
export function runIsBusy(runDirectory: string): string {
  return `Another patchsmith is running in ${runDirectory}. Wait for it, or stop it.`;
}

/** The message if another run is working in the work tree at `root`. */
export function treeIsBusy(root: string): string {
  return `Another run of patchsmith is working in ${root}. Wait for it, stop it, or use another checkout (git worktree add).`;
}
