/** The shell that runs a script, and how a script reaches it. */

import { accessSync, constants, existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { orMissing } from '../host-files.ts';

/** The absolute path of a program of the machine, searched for in fixed folders: PATH may lead elsewhere. `more` come last. */
export function findProgram(name: string, more: readonly string[] = []): string | null {
  return programIn(['/usr/bin', '/bin', '/usr/local/bin', ...more], name);
}

/** The first program of this name in these folders. */
export function programIn(folders: readonly string[], name: string): string | null {
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

/** bash if available: most scripts are written for it. */
export function findShell(): string {
  return findProgram('bash') ?? '/bin/sh';
}

/** The shell, with `name` as the script's own name and as the prefix of the shell's errors. */
export interface ScriptShell {
  readonly program: string;
  readonly name: string;
  /** Any failure ends the script. A shell that cannot do that says so and fails. */
  readonly isStrict: boolean;
}

/** The command line that runs the script in that shell. */
export function scriptCommand({ program, name, isStrict }: ScriptShell, script: ScriptPlace): string[] {
  const options = isStrict ? ['-eo', 'pipefail'] : [];
  return script.by === 'argument'
    ? [program, ...options, '-c', script.text, name]
    : [program, ...options, script.path];
}

/** How a script reaches the shell: a long one does not fit into an argument. */
export type ScriptPlace = { by: 'argument'; text: string } | { by: 'file'; path: string };

/** An argument is limited to 128 KiB and cannot contain a NUL. */
const LONGEST_ARGUMENT = 100 * 1024;

/** Writes a script to the file `own`.sh if it is too long for an argument; the file is removed after `use` has run it. */
export async function withScript<T>(
  script: string,
  own: string,
  use: (place: ScriptPlace) => Promise<T>,
): Promise<T> {
  if (Buffer.byteLength(script) <= LONGEST_ARGUMENT && !script.includes('\0')) {
    return use({ by: 'argument', text: script });
  }
  const path = `${own}.sh`;
  await writeFile(path, script, { mode: 0o644 });
  try {
    return await use({ by: 'file', path });
  } finally {
    await rm(path, { force: true });
  }
}

function isExecutable(path: string): boolean {
  // Most are missing, and an exception costs four times as much.
  return existsSync(path) && orMissing(() => accessSync(path, constants.X_OK)) !== null;
}
