/** Holds the events of every run in the tests against docs/events.schema.json. */

import { closeSync, lstatSync, openSync, readdirSync, readSync, type Stats } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RunEvent } from '../../../src/library.ts';
import { eventIn } from '../published.ts';

/** The events of a journal or of `--output jsonl`. Throws for a line that the schema does not describe. */
export function validEvents(text: string): RunEvent[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map(eventIn);
}

/** A command that may carry out runs. */
export interface Started {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Carries out `work`, which starts this command, and throws if it adds an event to a journal that the schema does not describe,
 * or prints one. What was there before is none of its own: a test may have forged it.
 */
export async function holdingEvents<End>(started: Started, work: () => Promise<End>): Promise<End> {
  const had = new Map(journalsOf(started).map((journal) => [journal, linesIn(journal)]));
  const end = await work();
  for (const journal of journalsOf(started)) {
    const [before, after] = [had.get(journal), linesIn(journal)];
    if (before?.changed !== after.changed)
      validEvents(bytesIn(journal, before?.bytes ?? 0, after.bytes).toString('utf8'));
  }
  if (started.args.some((word) => /^(?:--output=)?jsonl$/.test(word))) validEvents(printed(end));
  return end;
}

/** The lines on stdout; the last one of a killed process can be torn. */
function printed(end: unknown): string {
  const text = typeof end === 'object' && end !== null && 'stdout' in end ? String(end.stdout) : '';
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

/** The journals in the folders that a command line names, and in those where runs are kept by default. */
function journalsOf({ args, cwd, env }: Started): string[] {
  const named = args.map((word) => resolve(cwd, word.replace(/^--[\w-]+=/, '')));
  return [...new Set([...named, ...keptRuns(env)])]
    .flatMap((run) => [run, ...attemptsIn(run)])
    .map((folder) => join(folder, 'events.jsonl'))
    .filter((journal) => lstatOf(journal)?.isFile());
}

/** The runs where they are kept by default. */
function keptRuns({ RUNNER_TEMP, XDG_STATE_HOME, HOME }: Started['env']): string[] {
  const state = XDG_STATE_HOME || (HOME && join(HOME, '.local/state'));
  return [RUNNER_TEMP, state].flatMap((place) => {
    const folder = place ? join(place, 'patchsmith') : '';
    if (!lstatOf(folder)?.isDirectory()) return [];
    const ids = readdirSync(folder).filter((name) => /^\d{8}-\d{6}-\w+$/.test(name));
    return ids.map((id) => join(folder, id));
  });
}

function attemptsIn(run: string): string[] {
  const folder = join(run, 'attempts');
  return lstatOf(folder)?.isDirectory() ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

/** Undefined also for a path that goes through a file, or is too long to be one. */
function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Where the complete lines of a file end, and what is another whenever somebody has written to it. */
function linesIn(path: string): { bytes: number; changed: string } {
  const { size, mtimeMs, ino } = lstatSync(path);
  const from = Math.max(0, size - 2 ** 20);
  // What a crash left after the last event goes with the next one.
  const end = [
    ...bytesIn(path, from, size)
      .toString('latin1')
      .matchAll(/^\{.*\}\n/gm),
  ].at(-1);
  return {
    bytes: from + (end === undefined ? 0 : end.index + end[0].length),
    changed: `${ino} ${mtimeMs} ${size}`,
  };
}

function bytesIn(path: string, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, to - from));
  const file = openSync(path, 'r');
  try {
    readSync(file, bytes, 0, bytes.length, from);
  } finally {
    closeSync(file);
  }
  return bytes;
}
