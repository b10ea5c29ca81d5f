/** The findings of a check before a run: the document of `patchsmith check --output json`. */

import * as z from 'zod';
import { ErrorCodeText } from './errors/problem.ts';
import { OutcomeName } from './run/exit-code.ts';
import type { RunOutcome } from './run/outcome.ts';

/** The subjects of a check, in the order of its page. */
const CHECKED_PARTS = [
  'settings',
  'key',
  'price',
  'publishing',
  'work tree',
  'plan',
  'principles',
  'model',
  'sandbox',
  'tools',
  'setup',
  'verify',
] as const;

/** One line of the page. */
export const CheckLine = z.strictObject({
  part: z.enum(CHECKED_PARTS),
  status: z
    .enum(['ok', 'note', 'failed', 'skipped'])
    .describe(
      'note: a run can begin, and people should know; failed: a run would end there; skipped: not wanted, or not reached',
    ),
  code: ErrorCodeText.nullable().describe('Of what failed; `patchsmith help CODE` says what it means'),
  said: z.string(),
  fix: z
    .string()
    .nullable()
    .describe('What to do about it; null where there is nothing to do, or where `said` has it'),
});
export type CheckLine = z.infer<typeof CheckLine>;

/** A line about what a run could not do without. */
export function lacking(
  part: CheckLine['part'],
  code: string | null,
  said: string,
  fix: string | null = null,
): CheckLine {
  return { part, status: 'failed', code, said, fix };
}

/** A line that people should know, and that ends nothing. */
export function noted(part: CheckLine['part'], said: string, fix: string | null): CheckLine {
  return { part, status: 'note', code: null, said, fix };
}

/** A line about something that was not checked. */
export function skipped(part: CheckLine['part'], said: string): CheckLine {
  return { part, status: 'skipped', code: null, said, fix: null };
}

/** A line about something that is fine. */
export function fine(part: CheckLine['part'], said: string): CheckLine {
  return { part, status: 'ok', code: null, said, fix: null };
}

/** The document, version 1. The published JSON schema is generated from this object. */
export const CheckReport = z.strictObject({
  version: z.literal(1),
  patchsmith: z.string().describe('Version of patchsmith'),
  outcome: OutcomeName,
  exitCode: z.int(),
  reason: z.string(),
  errorCode: ErrorCodeText.nullable().describe(
    'Why a run could not begin; `patchsmith help CODE` says what it means. null when it could',
  ),
  lines: z.array(CheckLine).describe('One or more for each part, in the order of the page'),
  warnings: z.array(z.string()).describe('What a run would warn of, each with its code in front'),
  result: z
    .string()
    .nullable()
    .describe('Path of the result.json with the outputs of the commands; null when nothing was kept'),
});
export type CheckReport = z.infer<typeof CheckReport>;

/** The document of a check that ended like this, before it looked at anything. */
export function nothingChecked(
  { name, exitCode, reason, errorCode }: RunOutcome,
  patchsmith: string,
): CheckReport {
  return {
    ...{ version: 1, patchsmith, outcome: name, exitCode, reason, errorCode },
    ...{ lines: [], warnings: [], result: null },
  };
}
