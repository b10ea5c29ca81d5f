/** A reviewer's finding in a patch. It is a model's statement about other people's text, so it is data, like the patch. */

import * as z from 'zod';
import { pluralize } from '../text/pluralize.ts';

/** One thing that a reviewer found. */
export const Finding = z.strictObject({
  severity: z.enum(['blocking', 'note']).describe('blocking: must not be merged as it is'),
  path: z.string().trim().min(1).max(1_000).describe('Relative to the repository root'),
  line: z.int().positive().nullable().describe('In the new file; null for the file as a whole'),
  problem: z.string().trim().min(1).max(4_000).describe('What is wrong, why, and what would be right'),
});
export type Finding = z.infer<typeof Finding>;

/** The most findings of one review. */
const MAX_FINDINGS = 50;

/** The answer that a review ends with. */
export const FindingsAnswer = z.strictObject({ findings: z.array(Finding).max(MAX_FINDINGS) });

/** Those for which the work goes back, once. */
export function blockingAmong(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ severity }) => severity === 'blocking');
}

/** `no findings`, `3 findings, 1 of them blocking`. */
export function countFindings(findings: readonly Finding[]): string {
  const blocking = blockingAmong(findings).length;
  if (findings.length === 0) return 'no findings';
  const all = pluralize(findings.length, 'finding');
  if (blocking === 0) return all;
  return blocking === findings.length ? `${all}, blocking` : `${all}, ${blocking} of them blocking`;
}

/** `src/a.ts:3`, or the path alone. */
export function placeOf({ path, line }: Pick<Finding, 'path' | 'line'>): string {
  return line === null ? path : `${path}:${line}`;
}
