/**
 * Programs that nothing inside a sandbox can trace, read or take descriptors from. Process 1 of the sandbox is one: an attacker who
 * controlled it could outlive the command and forge its exit code. The shell that runs a script is another, since the lines after
 * a hostile program in the same script must remain reliable.
 */

import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Mount } from './args.ts';
import { oursInside } from './mounts.ts';

/** Copies that can be executed but not read, so that the kernel prevents anything inside from tracing them. */
export interface ClosedShells {
  readonly mount: Mount;
  /** The launcher, which is process 1, as seen inside. */
  readonly init: string;
  /** The shell that runs scripts, as seen inside. */
  readonly script: string;
}

/**
 * When a process executes a file that its user may not read, the kernel makes it non-dumpable (`would_dump` in fs/exec.c),
 * and then refuses ptrace, pidfd_getfd, process_vm_readv, /proc/PID/mem and the like to everyone without CAP_SYS_PTRACE.
 * Commands have no capabilities, not even root's. Programs that the shell executes are ordinary processes again, so
 * debuggers work on them.
 *
 * `files` is a private folder; `shell` is what runs scripts.
 */
export async function closedShells(shell: string, launcher: string, files: string): Promise<ClosedShells> {
  const folder = join(files, 'shells');
  await mkdir(folder, { mode: 0o755 });
  const mount = oursInside(folder, 'shells');
  await Promise.all(
    [launcher, shell].map(async (source) => {
      const copy = join(folder, basename(source));
      await copyFile(source, copy);
      await chmod(copy, 0o111);
    }),
  );
  return { mount, init: join(mount.at, basename(launcher)), script: join(mount.at, basename(shell)) };
}
