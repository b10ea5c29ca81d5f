/** The end of a run whose process ends at once: by a second signal, or by an exception that nothing handles. */

import process from 'node:process';
import { identify, killDescendants } from '../../adapters/sandboxes/command/process-table.ts';
import { clearScratch, type RunDirectory, resultLine } from '../../adapters/storage/run-directory.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import type { Redact } from '../../domain/secrets/redact.ts';
import { jsonDocument } from '../../domain/text/terminal.ts';
import type { RunInput } from '../run-input.ts';

/** The run that ends. */
interface EndingRun {
  readonly result: RunResult;
  readonly input: Pick<RunInput, 'stdout' | 'settings'>;
  readonly directory: RunDirectory | null;
  readonly redact: Redact;
  record(part: Partial<RunResult>): void;
  decide(outcome: RunOutcome): void;
  writeResult(): void;
  letGo(): void;
}

/**
 * Ends what the process has started, and writes and prints a result that does not say that the run is running. Waits for
 * nothing. `soFar` returns the result as if the run ended now. Returns whether there is a document on stdout.
 */
export function endSuddenly(run: EndingRun, soFar: () => Partial<RunResult>, outcome: RunOutcome): boolean {
  const { stdout, settings } = run.input;
  const prints = settings.output === 'json' || settings.output === 'jsonl';
  if (run.result.status === 'finished') return prints;
  const self = identify(process.pid);
  if (self !== null) killDescendants(self);
  run.record(soFar());
  run.decide(outcome);
  if (settings.output === 'json') stdout.write(jsonDocument(run.result, run.redact));
  if (settings.output === 'jsonl') stdout.write(resultLine(run.result, run.redact));
  if (run.directory !== null) clearScratch(run.directory);
  run.writeResult();
  run.letGo();
  return prints;
}
