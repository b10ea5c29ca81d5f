/** Replaces files in folders that others may write to, and makes temporary folders. */

import { mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../domain/environment.ts';

/**
 * Replaces a file in one step, so that a reader sees the old or the new one, and follows no link in its place. Throws the
 * system's error, and then leaves the old one.
 */
export function replaceFile(path: string, content: string | Uint8Array, mode = 0o600): void {
  const temporary = `${path}.${process.pid}.new`;
  const discard = () => rmSync(temporary, { recursive: true, force: true });
  // Left by a killed process, or put there by someone else: it is not written through.
  discard();
  try {
    writeFileSync(temporary, content, { flag: 'wx', mode });
    renameSync(temporary, path);
  } finally {
    discard();
  }
}

/** The same. Null on success, otherwise the reason. */
export function writeDocument(path: string, text: string): string | null {
  try {
    replaceFile(path, text);
    return null;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return `${path} cannot be written: ${error.message}`;
  }
}

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
