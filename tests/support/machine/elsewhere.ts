/** Programs that a small process starts for this one. */

import { smallProcess } from './small-process.ts';

/** A program that runs to its end. */
export interface Errand {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** All of its environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** On its stdin; default: nothing. */
  readonly input?: string | Uint8Array;
}

/** `exitCode` is null when the program was killed or could not be started. */
export interface ErrandEnd {
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const start = smallProcess<Errand, ErrandEnd>(new URL('starter.mjs', import.meta.url));

/** Runs a program and resolves however it ends. */
export async function runElsewhere(errand: Errand): Promise<ErrandEnd> {
  const { stdout, ...end } = await start(errand);
  return { ...end, stdout: Buffer.from(stdout) };
}

/** The same, for bytes on stdout. Throws unless the program ends with 0. */
export async function outputElsewhere(errand: Errand): Promise<Buffer> {
  const { exitCode, stdout, stderr } = await runElsewhere(errand);
  if (exitCode !== 0)
    throw new Error(`${errand.program} ${errand.args.join(' ')} failed (${exitCode}): ${stderr}`);
  return stdout;
}
