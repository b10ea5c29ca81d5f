/** Commands as the sources have them, for tests of the sources: what is built is not needed, and hooks are at hand. */

import { Readable, type Writable } from 'node:stream';
import { runCommandLine } from '../../../src/commands/command-line.ts';
import type { Settings } from '../../../src/config/schema.ts';
import type { RunInput } from '../../../src/engine/run-input.ts';
import { temporaryFolder } from '../files/repository.ts';
import { type CommandEnd, collector, endOf, type Given } from './fake-process.ts';
import { KEY } from './scripted-run.ts';
import { holdingEvents } from './valid-events.ts';

/** Carries out a command line to its end. */
export function sourcesHere(args: readonly string[], given: Given): Promise<CommandEnd> {
  return holdingEvents({ ...given, args }, () => endOf({ ...given, args }, runCommandLine));
}

/** The input of a run; `printed` collects what it writes to stderr. */
export function inputOf(settings: Settings, stdout: Writable): RunInput & { printed: string[] } {
  const printed: string[] = [];
  return {
    settings,
    apiKey: KEY,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, XDG_STATE_HOME: temporaryFolder() },
    cwd: '/',
    stdin: Readable.from([]),
    stdout,
    stderr: sink((text) => printed.push(text)),
    interrupt: new AbortController().signal,
    now: Date.now,
    version: '0.0.0',
    startNotes: [],
    printed,
  };
}

/** Calls back at once with every piece that is written. */
export function sink(onText: (text: string) => void): Writable {
  return collector(onText).stream;
}
