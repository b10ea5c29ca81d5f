/** Writes a document into a folder that others may have written to. */

import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Replaces the file atomically and follows no link in its place. Null on success, otherwise the reason. */
export function writeDocument(path: string, text: string): string | null {
  const temporary = `${path}.${process.pid}.new`;
  try {
    rmSync(temporary, { force: true });
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 });
    renameSync(temporary, path);
    return null;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    rmSync(temporary, { force: true, recursive: true });
    return `${path} cannot be written: ${error.message}`;
  }
}
