/** Temporary folders. */

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../domain/environment.ts';

/** A folder for the duration of one task. */
export interface TemporaryFolder {
  /** Absolute, without links. */
  readonly path: string;
  remove(): void;
}

/** An empty folder below `$RUNNER_TEMP` or the system's temporary folder, accessible to its owner only. */
export function makeTemporaryFolder(env: Environment): TemporaryFolder {
  const path = realpathSync(mkdtempSync(join(env.RUNNER_TEMP || tmpdir(), 'patchsmith-')));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
