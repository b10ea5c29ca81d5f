/** The failed checks of a pull request's head, for the model: the ends of their logs, as people see them. */

import { type FailedCheck, readFailedChecks } from '../../adapters/github/follow-up/failed-checks.ts';
import { type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import type { FollowUpAsk } from '../../domain/run/plan.ts';
import { lastUnits } from '../../domain/text/shorten.ts';
import { formatNumber } from '../../domain/text/words.ts';
import { describeRefusal } from '../trust/trust.ts';
import type { Continued } from './find.ts';

/** Maximum characters of a log that the model sees, from its end; and of what a check reports about itself. */
const MAX_LOG = 6_000;
const MAX_SUMMARY = 2_000;

/** What failed, or why that is unknown. */
export type ChecksRead = { status: 'ok'; asks: FollowUpAsk[] } | { status: 'failed'; outcome: RunOutcome };

/** Checks that are still running do not count. */
export async function failedChecks({ repository, pull }: Continued): Promise<ChecksRead> {
  const read = await readFailedChecks(repository, pull.head);
  if (read.status === 'refused') {
    const why = describeRefusal(read.refusal, 'checks: read');
    const reason = `The checks of pull request #${pull.number} cannot be read: ${why}`;
    return { status: 'failed', outcome: usageError('ERR_GITHUB_UNREADABLE', reason) };
  }
  return { status: 'ok', asks: read.data.map(askOf) };
}

function askOf({ name, conclusion, summary, log }: FailedCheck): FollowUpAsk {
  const parts = [endOf(visible(summary), MAX_SUMMARY), endOf(visible(log), MAX_LOG)];
  return {
    tag: 'check',
    attributes: { name: visible(name), conclusion },
    text: parts.filter((part) => part !== '').join('\n\n') || '(no log)',
    remarks: [],
  };
}

/** Without the times that GitHub puts before each line, colours, and what cannot be seen. */
function visible(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/^\uFEFF?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ?/gm, '')
    .replace(/\x1b\[[0-9;]*[A-Za-z]/g, '')
    .replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu, '')
    .trim();
}

function endOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const shown = lastUnits(text, most);
  return `(${formatNumber(text.length - shown.length)} characters left out)\n${shown}`;
}
