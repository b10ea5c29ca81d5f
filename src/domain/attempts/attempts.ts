/** What the result of a run says of its attempts. */

import * as z from 'zod';
import { addUsage, Usage } from '../conversation/conversation.ts';
import { ErrorCodeText } from '../errors/problem.ts';
import { ModelUse, withMoreUse } from '../fallback.ts';
import { HostUse, withUses } from '../review/egress.ts';
import { OutcomeName } from '../run/exit-code.ts';

/** `--attempts` takes no more. */
export const MAX_ATTEMPTS = 10;

/** One attempt: how it ended, and the facts by which it was chosen or not. */
export const AttemptFacts = z.strictObject({
  number: z.int().positive(),
  path: z.string().describe('Its run directory; that of the whole run for the chosen one'),
  outcome: OutcomeName,
  exitCode: z.int(),
  reason: z.string(),
  errorCode: ErrorCodeText.nullable(),
  failedChecks: z
    .int()
    .describe('Verify commands that failed at the end, including those that failed before the work'),
  unverified: z.int().describe('Paths with different contents in the patch than the verify commands saw'),
  weakenedTests: z.int().describe('Places where the patch may weaken a test'),
  denied: z.int().describe('What its calls asked for and did not get'),
  files: z.int().describe('Changed files'),
  binaryFiles: z.int().describe('Changed files without lines'),
  lines: z.int().describe('Added and removed lines'),
  patchBytes: z.int().describe('0 without a patch'),
  iterations: z.int(),
  tokens: Usage,
  costUsd: z.union([z.number(), z.literal('unknown')]),
  estimated: z.boolean(),
  models: z.array(ModelUse),
  hosts: z.array(HostUse).describe('The hosts that it asked for'),
});
export type AttemptFacts = z.infer<typeof AttemptFacts>;

/** The attempts of a run, in the order in which they began. */
export const Attempts = z.strictObject({
  asked: z.int().describe('--attempts; fewer start if the first one does not get an answer'),
  chosen: z.int().nullable().describe('Number of the one in the work tree; null for none'),
  why: z.string().describe('What decided, as a sentence without its full stop'),
  list: z.array(AttemptFacts),
});
export type Attempts = z.infer<typeof Attempts>;

/** What an attempt or a run has spent. */
export type AttemptSpending = Pick<AttemptFacts, 'tokens' | 'costUsd' | 'estimated' | 'models'>;

/** What a run has spent together with its attempts: those that were not chosen, or all if none was. */
export function withAttempts<T extends AttemptSpending>(spent: T, { list, chosen }: Attempts): T {
  const others = list.filter(({ number }) => number !== chosen);
  return { ...spent, ...others.reduce<AttemptSpending>(spentTogether, spent) };
}

/** The hosts that a run asked for, together with those of the same attempts. */
export function withAttemptHosts(own: readonly HostUse[], { list, chosen }: Attempts): HostUse[] {
  return withUses(
    own,
    list.flatMap(({ number, hosts }) => (number === chosen ? [] : hosts)),
  );
}

/** The sum of two, with one entry for each model in each role. */
export function spentTogether(a: AttemptSpending, b: AttemptSpending): AttemptSpending {
  return {
    tokens: addUsage(a.tokens, b.tokens),
    costUsd: a.costUsd === 'unknown' || b.costUsd === 'unknown' ? 'unknown' : a.costUsd + b.costUsd,
    estimated: a.estimated || b.estimated,
    models: b.models.reduce(withModel, a.models),
  };
}

function withModel(models: readonly ModelUse[], more: ModelUse): ModelUse[] {
  const isSame = ({ provider, model, role }: ModelUse) =>
    provider === more.provider && model === more.model && role === more.role;
  if (!models.some(isSame)) return [...models, more];
  const { turns, tokens, costUsd: cost } = more;
  const costUsd = cost === 'unknown' ? null : cost;
  return models.map((use) => (isSame(use) ? withMoreUse(use, { turns, tokens, costUsd }) : use));
}
