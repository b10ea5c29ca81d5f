import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { NO_UPKEEP, removeFolder } from './repository.ts';

/** A folder of this test alone, with these files; it is gone when the test has finished. */
export function tempFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'patchsmith-test-')));
  onTestFinished(() => removeFolder(folder));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** Makes a named pipe, which blocks whoever opens it for reading without care. */
export function makePipe(path: string): void {
  execFileSync('sh', ['-c', 'mkfifo "$0"', path]);
}

/** Git without the configuration of whoever runs the tests. */
export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', [...NO_UPKEEP, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      GIT_TEMPLATE_DIR: process.env.GIT_TEMPLATE_DIR,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.com',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.com',
    },
  });
}
