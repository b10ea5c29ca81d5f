/** One attempt: a copy of the work tree, and a run on it in its own directory. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { type RunDirectory, runDirectoryAt } from '../../adapters/storage/run-directory.ts';
import type { Settings } from '../../config/schema.ts';
import type { AttemptFacts } from '../../domain/attempts/attempts.ts';
import { attemptOf } from '../../domain/attempts/rank.ts';
import type { RunEvent } from '../../domain/run/events.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { inertJson } from '../../domain/text/terminal.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { refusedResult } from '../finish/empty-result.ts';
import { runPatchsmith } from '../run.ts';
import type { RunInput } from '../run-input.ts';

/** Where attempts are made. */
export interface AttemptsPlace {
  /** The user's. */
  readonly checkout: Checkout;
  /** Of the whole run. */
  readonly directory: RunDirectory;
}

/** An attempt that has come to its end. */
export interface Made {
  readonly attempt: AttemptFacts;
  readonly outcome: RunOutcome;
  readonly result: RunResult;
  /** Warnings that are not only about its copy. */
  readonly warnings: readonly string[];
  /** It has a journal: its model was asked, or was about to be. */
  readonly hasBegun: boolean;
}

/** Which attempt to make, of how many, and where. */
interface AttemptAsked {
  readonly number: number;
  readonly asked: number;
  /** Of the whole run. */
  readonly runId: string;
  readonly place: AttemptsPlace;
  /** Of its copy of the work tree. */
  readonly root: string;
  /** Called when the model has answered. */
  onAnswer(): void;
}

/** Never rejects because of anything that can happen to a run. */
export async function makeAttempt(input: RunInput, made: AttemptAsked): Promise<Made> {
  const { number, asked, runId, root, onAnswer } = made;
  const { checkout, directory } = made.place;
  const path = join(directory.path, 'attempts', String(number));
  const { afterwards: _, terminal: __, settings, stdout, ...given } = input;
  let result: RunResult | null = null;
  let warnings: readonly string[] = [];
  const outcome = await runPatchsmith({
    ...given,
    settings: shareOf(settings, { asked, path }),
    startNotes: [],
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
    stderr: inLines(input.stderr, `[${number}] `),
    attempt: {
      number,
      runId,
      root: checkout.root,
      checkout: { ...checkout, root },
      onWorked(soFar) {
        warnings = soFar;
      },
    },
    onEvent(event: RunEvent) {
      if (event.type === 'turn.completed') onAnswer();
      if (settings.output === 'jsonl')
        stdout.write(`${inertJson(JSON.stringify({ ofAttempt: number, ...event }))}\n`);
    },
    watcher: {
      onStart: () => (number === 1 ? input.watcher?.onStart() : undefined),
      onDirectory() {},
      onResult(ended) {
        result = ended;
      },
    },
  });
  const known: RunResult = result ?? refusedResult(outcome, input.version);
  return {
    attempt: attemptOf(known, { number, path }),
    outcome,
    result: known,
    warnings,
    hasBegun: existsSync(runDirectoryAt(path).events),
  };
}

/** Whole lines alone, since several attempts write at a time. */
function inLines(to: Writable, mark: string): Writable {
  let open = '';
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      const lines = `${open}${chunk.toString('utf8')}`.split('\n');
      open = lines.pop() ?? '';
      if (lines.length > 0) to.write(lines.map((line) => `${mark}${line}\n`).join(''));
      done();
    },
  });
}

/** What one of several attempts may spend: an equal part of each cap, so that they can never come to more together. */
function shareOf(settings: Settings, { asked, path }: { asked: number; path: string }): Settings {
  const { maxCostUsd, maxTotalTokens } = settings;
  return {
    ...settings,
    attempts: 1,
    // One attempt must not reach the copy of another.
    sandbox: 'required',
    runDir: path,
    patch: null,
    output: 'none',
    maxCostUsd: maxCostUsd === null ? null : maxCostUsd / asked,
    maxTotalTokens: maxTotalTokens === null ? null : Math.max(1, Math.floor(maxTotalTokens / asked)),
  };
}
