/** The review of a run's work in a separate conversation: its settings, its events, and its state. */

import * as z from 'zod';
import { type PathChange, unverifiedPaths, type VerifiedPatch } from '../changes/change.ts';
import { LlmTurn } from '../conversation/conversation.ts';
import { FallbackModel, type ModelUse, unused } from '../fallback.ts';
import { SpentTokens } from '../run/budget.ts';
import { ProviderFailureKind } from '../run/limits.ts';
import { IF_NOT_REVIEWED } from '../run/model-settings.ts';
import { pluralize } from '../text/words.ts';

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

/** How the work is reviewed, recorded when the run starts. */
export const ReviewSettings = z.strictObject({
  /** Who reviews; null for the model that does the work. */
  by: FallbackModel.nullable(),
  ifNotReviewed: z.enum(IF_NOT_REVIEWED),
});
export type ReviewSettings = z.infer<typeof ReviewSettings>;

/** The event of a review with its findings. */
export const ReviewCompleted = z.strictObject({
  type: z.literal('review.completed'),
  findings: z.array(Finding),
  /** Characters of the patch that the reviewer was not shown, since it is too long. */
  leftOut: z.int().nonnegative(),
  turn: LlmTurn,
});
export type ReviewCompleted = z.infer<typeof ReviewCompleted>;

/** The event of a review that came to nothing. */
export const ReviewFailed = z.strictObject({
  type: z.literal('review.failed'),
  /** A failure of the provider, an answer without findings, no patch to show, or no room within the caps. */
  kind: z.enum([...ProviderFailureKind.options, 'no_findings', 'no_patch', 'budget']),
  message: z.string(),
  /** The reviewer is asked again. */
  again: z.boolean(),
  /** The answer without findings. */
  turn: LlmTurn.exactOptional(),
  /** What an attempt without an answer had used up. */
  spent: SpentTokens.exactOptional(),
});
export type ReviewFailed = z.infer<typeof ReviewFailed>;

/** What a result says of the review. */
export const ReviewPart = z.strictObject({
  provider: z.string(),
  model: z.string(),
  status: z
    .enum(['done', 'failed', 'not_due'])
    .describe('not_due: the run ended before there was finished work to review, or changed nothing'),
  reason: z.string().describe('Why it failed; empty otherwise'),
  findings: z.array(Finding).describe('The word of a model; not evidence'),
  sentBack: z
    .boolean()
    .describe('The blocking findings were sent back to the model that did the work, which happens once'),
  changedSince: z
    .array(z.string())
    .describe('Paths whose content in the patch is not what was reviewed: there is no second review'),
  leftOut: z.int().describe('Characters of the patch that the reviewer was not shown, since it is too long'),
});
export type ReviewPart = z.infer<typeof ReviewPart>;

/** Where the review of a run stands. */
export interface ReviewState {
  readonly settings: ReviewSettings;
  readonly status: 'due' | 'done' | 'failed';
  /** The last failure, as a sentence. */
  readonly reason: string;
  readonly findings: readonly Finding[];
  readonly leftOut: number;
  readonly sentBack: boolean;
  /** What was reviewed; null before that. */
  readonly patch: VerifiedPatch | null;
  /** The model's own summary of the reviewed work. */
  readonly summary: string;
  /** Its usage so far. */
  readonly use: ModelUse;
}

/** Before it is due; null for a run without one. `own` is the model that does the work. */
export function reviewToCome(
  settings: ReviewSettings | null,
  own: Pick<ModelUse, 'provider' | 'model'>,
): ReviewState | null {
  if (settings === null) return null;
  const { provider, model } = settings.by ?? own;
  const nothing = { reason: '', findings: [], leftOut: 0, sentBack: false, patch: null, summary: '' };
  return { settings, status: 'due', ...nothing, use: unused({ provider, model }, 'review') };
}

/** When another model works, it also reviews, unless somebody else does. */
export function withWorker(
  state: ReviewState,
  { provider, model }: Pick<ModelUse, 'provider' | 'model'>,
): ReviewState {
  const isOther = state.settings.by !== null || state.status !== 'due';
  return isOther ? state : { ...state, use: { ...state.use, provider, model } };
}

/** Whether there are findings that have to go back. */
export function hasObjections({ findings }: Pick<ReviewState, 'findings'>): boolean {
  return blockingAmong(findings).length > 0;
}

/** Paths whose contents differ from what was reviewed; null before the review. */
export function changedSinceReview(
  { patch }: Pick<ReviewState, 'patch'>,
  net: readonly PathChange[],
): string[] | null {
  return patch === null ? null : unverifiedPaths(patch, net);
}

/** What the result says; null for a run without a review. */
export function reviewPart(state: ReviewState | null, net: readonly PathChange[]): ReviewPart | null {
  if (state === null) return null;
  const { status, reason, findings, sentBack, leftOut } = state;
  const { provider, model } = state.use;
  return {
    provider,
    model,
    status: status === 'due' ? 'not_due' : status,
    reason: status === 'failed' ? reason : '',
    findings: [...findings],
    sentBack,
    changedSince: changedSinceReview(state, net) ?? [],
    leftOut,
  };
}

/** Why a finished run lacks the review that it asked for, as the beginning of a sentence; null where it does not. */
export function whyUnreviewed(
  part: ReviewPart | null,
  ended: { readonly changedFiles: number },
): string | null {
  if (part === null || ended.changedFiles === 0) return null;
  if (part.status === 'failed') return `The patch was not reviewed: ${part.reason.replace(/\.$/, '')}`;
  if (part.status === 'not_due') return 'The patch was not reviewed, since the run was at its end';
  if (part.sentBack || !hasObjections(part)) return null;
  return `The review has ${countFindings(part.findings)}, and nothing was left to send them back`;
}
