/** The last lines of a run for people. */

import { isThere } from '../adapters/storage/run-directory.ts';
import { costLine, fileLine, finalLine, flagLines } from '../domain/report/result-lines.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import { redactedStrings } from '../domain/secrets/redact.ts';
import { warning } from '../domain/warnings/warning.ts';
import type { Session } from './session.ts';

/** Changed files that are named. */
const MAX_FILES = 20;

/** Prints them; the outcome comes last. A check has its own lines. */
export function printClosingLines(session: Session, outcome: RunOutcome): void {
  const { progress, input, result, redact } = session;
  progress.endStatus();
  input.watcher?.onResult(redactedStrings(result, redact) as RunResult);
  if (input.isCheck === true) return;
  if (result.verifyIn !== null) sumUp(session);
  else if (result.setup.length > 0 || result.verifyBaseline !== null) nameResult(session);
  progress.final(finalLine(outcome), outcome.exitCode === 0);
}

function sumUp(session: Session): void {
  const { progress, result, nextCommand } = session;
  const { changedFiles, flags, patch } = result;
  for (const file of changedFiles.slice(0, MAX_FILES)) progress.note(`  ${fileLine(file)}`);
  if (changedFiles.length > MAX_FILES) progress.note(`  … and ${changedFiles.length - MAX_FILES} more files`);
  for (const line of flagLines(flags)) progress.warn(warning('WARN_SECOND_LOOK', line));
  progress.note(costLine(result));
  progress.quote('the model says', result.summary);
  if (patch) progress.note(`patch: ${patch.path}`);
  nameResult(session);
  if (nextCommand !== null && !session.hasLostDirectory()) progress.command(`continue: ${nextCommand}`);
}

function nameResult({ directory, progress, hasReport }: Session): void {
  if (!directory || !isThere(directory)) return;
  progress.note(`result: ${directory.result}`);
  if (hasReport) progress.note(`report: ${directory.report}`);
}
