/** The summary of the step. */

import type { RunOutcome } from '../domain/outcome.ts';
import { finalLine } from '../run/report.ts';
import type { Step } from './step.ts';

export function summaryOf(outcome: RunOutcome, _step: Step): string {
  return `    ${finalLine(outcome)}\n`;
}

export function crashSummary(outcome: RunOutcome): string {
  return `    ${finalLine(outcome)}\n`;
}
