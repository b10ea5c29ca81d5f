import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';

/** A folder whose files take memory in place of a disk, and what removes it with all that is in it. */
export interface DiskInMemory {
  readonly folder: string;
  remove(): Promise<void>;
}

/**
 * Mounts one for the temporary folders of the tests, or returns null where this process may not: a test makes repositories of
 * many small files, which cost a disk up to twenty times as much. It is gone with this process however that ends.
 */
export function diskInMemory(): DiskInMemory | null {
  if (getuid?.() !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), 'patchsmith-memory-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=1777', 'patchsmith-tests', folder], {
      stdio: 'ignore',
    });
  } catch {
    rmdirSync(folder);
    return null;
  }
  // It ends when this process closes the pipe, or ends itself.
  const guard = spawn('sh', ['-c', 'cat; umount --lazy "$0" && rmdir "$0"', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  });
  guard.unref();
  return {
    folder,
    async remove() {
      const ended = once(guard, 'exit');
      guard.ref();
      guard.stdin.end();
      await ended;
    },
  };
}
