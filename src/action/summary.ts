/** The summary of the step. */

import type { RunOutcome, RunResult } from '../domain/outcome.ts';
import { finalLine } from '../run/report.ts';

export function summaryOf(outcome: RunOutcome, _result: RunResult | null): string {
  return `    ${finalLine(outcome)}\n`;
}

export function crashSummary(outcome: RunOutcome): string {
  return `    ${finalLine(outcome)}\n`;
}
