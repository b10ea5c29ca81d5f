/**
 * Shells that nothing inside a sandbox can trace, read or take descriptors of. Process 1 of the sandbox is one: whoever
 * controlled it could outlive the command and forge its exit code. So is the shell that runs a script, for what follows a
 * hostile program in the same script must count.
 */

import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Mount } from './args.ts';
import { oursInside } from './mounts.ts';

/** Copies of the shell that may be executed but not read, so that the kernel lets nothing inside trace them. */
export interface ClosedShells {
  readonly mount: Mount;
  /** The Bourne shell that is process 1, as seen inside. */
  readonly init: string;
  /** The shell that runs scripts, as seen inside. */
  readonly script: string;
}

/**
 * The kernel makes a process that executes a file which its user may not read non-dumpable (`would_dump` in fs/exec.c), and
 * then refuses ptrace, pidfd_getfd, process_vm_readv, /proc/PID/mem and its like to everyone without CAP_SYS_PTRACE. Commands
 * have no capability, root's neither. What the shell executes in turn is an ordinary process again, so debuggers work on it.
 *
 * `files` is a folder of ours; `shell` is what runs scripts.
 */
export async function closedShells(shell: string, files: string): Promise<ClosedShells> {
  const folder = join(files, 'shells');
  await mkdir(folder, { mode: 0o755 });
  const mount = oursInside(folder, 'shells');
  const sources = [...new Set(['/bin/sh', shell])];
  await Promise.all(
    sources.map(async (source) => {
      const copy = join(folder, basename(source));
      await copyFile(source, copy);
      await chmod(copy, 0o111);
    }),
  );
  return { mount, init: join(mount.at, 'sh'), script: join(mount.at, basename(shell)) };
}
