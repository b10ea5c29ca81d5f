/** The outcome of a run: one value, decided from facts, of which the exit code, the result and the last line are renderings. */

import * as z from 'zod';
import { NetworkUse } from './allowed-domain.ts';
import { ChangeKind } from './change.ts';
import { ExceededChangeLimit } from './change-limits.ts';
import { EnforcedLimits } from './command-limits.ts';
import { Usage } from './conversation.ts';
import { CommandReport, SandboxLevel } from './events.ts';
import { figure } from './figure.ts';
import type { StopReason } from './limits.ts';
import { PlanSource } from './plan.ts';
import { Provenance } from './provenance.ts';
import { VERIFY_PLACES, type VerifyIn } from './run-settings.ts';
import { Flag } from './second-look.ts';
import { FoundSecret } from './secret-scan.ts';

export const OutcomeName = z.enum([
  'done',
  'no_change',
  'internal_error',
  'usage_error',
  'provider_error',
  'blocked',
  'limit_reached',
  'policy_violation',
  'verify_failed',
  'sandbox_unavailable',
  'publish_failed',
  'deadline',
  'interrupted',
]);
export type OutcomeName = z.infer<typeof OutcomeName>;

/** `reason` is one sentence for people; it names what, where and how to mend it. */
export interface RunOutcome {
  readonly name: OutcomeName;
  readonly exitCode: number;
  readonly reason: string;
}

/** What is known when a run has ended. */
export interface OutcomeFacts {
  readonly stop: StopReason;
  readonly changedFiles: number;
  /** Verify commands that passed at the end, and where. */
  readonly verified: number;
  readonly verifyIn: VerifyIn;
  /** Paths with other contents in the patch than the verify commands had before them. */
  readonly unverified: readonly string[];
  /** Verify commands that failed at the end as they had failed before the run. */
  readonly preexisting: number;
  readonly ifNoChanges: 'ok' | 'error';
  /** Why the patch is published nowhere although there is one; null when nothing speaks against it. */
  readonly withheld: string | null;
  /** Why the patch could not be proven or written; null when it was. */
  readonly publishFailure: string | null;
  /** Why there was no time for the patch of a run that was cut short; null when there is one. */
  readonly unmade: string | null;
  /** Paths that are changed though `allow` and `protect` of the plan and the settings do not permit it. */
  readonly forbiddenPaths: readonly string[];
  /** Files that could not be examined any more, so that nobody knows whether they changed. */
  readonly hiddenPaths: readonly string[];
}

/** Decides the outcome. A signal comes before what became of the patch, and that before any other end. */
export function decideOutcome(facts: OutcomeFacts): RunOutcome {
  const { stop } = facts;
  if (stop.why === 'interrupted') {
    return outcome(
      'interrupted',
      stop.signal === 'SIGINT' ? 130 : 143,
      `Stopped by ${stop.signal}; ${keptWork(facts)}.`,
    );
  }
  if (facts.withheld !== null) return outcome('policy_violation', 8, facts.withheld);
  if (facts.publishFailure !== null) return outcome('publish_failed', 11, facts.publishFailure);
  switch (stop.why) {
    case 'deadline':
      return outcome(
        'deadline',
        124,
        `The deadline of ${seconds(stop.valueMs)} passed; ${keptWork(facts)}. Raise it with --deadline.`,
      );
    case 'limit':
      return outcome('limit_reached', 7, `${describeLimit(stop)}; ${keptWork(facts)}.`);
    case 'provider':
      return outcome('provider_error', 4, `${openEnded(stop.message)}; ${keptWork(facts)}.`);
    case 'blocked':
      return outcome('blocked', 5, `${BLOCKED_BY[stop.by]}: ${stop.reason || 'no reason given'}`);
    case 'verify_failed':
      return outcome('verify_failed', 9, `Failed: ${stop.commands.join(' · ')}; ${keptWork(facts)}.`);
    case 'completed':
      return completed(facts);
  }
}

export function usageError(reason: string): RunOutcome {
  return outcome('usage_error', 2, reason);
}

export function sandboxUnavailable(reason: string): RunOutcome {
  return outcome('sandbox_unavailable', 10, reason);
}

export function internalError(reason: string): RunOutcome {
  return outcome('internal_error', 1, reason);
}

function completed(facts: OutcomeFacts): RunOutcome {
  if (facts.forbiddenPaths.length > 0) {
    return outcome(
      'policy_violation',
      8,
      `The plan and the settings do not allow changes to: ${facts.forbiddenPaths.join(', ')}.`,
    );
  }
  if (facts.hiddenPaths.length > 0) {
    return outcome(
      'policy_violation',
      8,
      `Files that were there before could not be examined, so that they may have changed: ${facts.hiddenPaths.join(', ')}. Let the owner of their folders open them, and run again.`,
    );
  }
  const verified = verifiedPart(facts);
  if (facts.changedFiles === 0) {
    const exitCode = facts.ifNoChanges === 'error' ? 3 : 0;
    return outcome('no_change', exitCode, `The model finished without changing a file${verified}.`);
  }
  return outcome(
    'done',
    0,
    `${count(facts.changedFiles, 'file')} changed${verified || ', nothing to verify'}.`,
  );
}

/** Empty when nothing was verified, else with a comma in front. */
function verifiedPart({ verified, preexisting, verifyIn, unverified }: OutcomeFacts): string {
  const where = verifyIn === 'checkout' ? ' in a fresh checkout' : '';
  const more = unverified.length > 5 ? ` and ${unverified.length - 5} more` : '';
  const named = `${unverified.slice(0, 5).join(', ')}${more}`;
  const otherwise = unverified.length > 0 ? ` with other contents than the patch has in ${named}` : '';
  const passed = verified > 0 ? `, ${count(verified, 'verify command')} passed${where}${otherwise}` : '';
  if (preexisting === 0) return passed;
  const failed = verified > 0 ? String(preexisting) : count(preexisting, 'verify command');
  return `${passed}, ${failed} failed as before the run`;
}

const BLOCKED_BY = {
  model: 'The model says it is blocked',
  refusal: 'The model refused',
  stall: 'The model made no headway',
} as const;

function describeLimit(stop: StopReason & { why: 'limit' }): string {
  switch (stop.limit) {
    case 'iterations':
      return `Used all ${stop.value} iterations (--max-iterations)`;
    case 'tokens':
      return `Used ${stop.used} tokens of ${stop.value} (--max-tokens)`;
    case 'cost_usd':
      return `Spent $${stop.used.toFixed(4)} of $${stop.value} (--max-cost-usd)`;
    case 'output_tokens':
      return `The model's answer was cut off ${stop.used} times in a row (--max-output-tokens)`;
    case 'changed_files':
      return `Changed ${figure(stop.used)} files of ${figure(stop.value)} (--max-changed-files)`;
    case 'changed_bytes':
      return `Changed files hold ${figure(stop.used)} bytes of ${figure(stop.value)} (--max-changed-size)`;
    case 'changed_file_bytes':
      return `A changed file holds ${figure(stop.used)} bytes of ${figure(stop.value)} (--max-changed-file-size)`;
    case 'disk_bytes':
      return `The disk of the run directory has ${figure(stop.used)} bytes less than at the start, of ${figure(stop.value)} (--max-disk)`;
    case 'context_window':
      return `The conversation is too large for the model's context window (the last prompt that fitted had ${stop.used} tokens): split or narrow the plan`;
  }
}

function keptWork(facts: OutcomeFacts): string {
  const unpublished = facts.withheld ?? facts.publishFailure ?? facts.unmade;
  if (unpublished !== null) return openEnded(unpublished);
  if (facts.changedFiles > 0) return `the patch so far has ${count(facts.changedFiles, 'file')}`;
  const { stop } = facts;
  const isLeftOut = stop.why === 'limit' && ExceededChangeLimit.shape.limit.safeParse(stop.limit).success;
  return isLeftOut ? 'nothing of it is in the patch' : 'no file was changed';
}

/** A sentence that goes on. */
function openEnded(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

/** For ends that no run decides about. */
export function outcome(name: OutcomeName, exitCode: number, reason: string): RunOutcome {
  return { name, exitCode, reason };
}

export function count(n: number, noun: string): string {
  return `${figure(n)} ${noun}${n === 1 ? '' : 's'}`;
}

function seconds(ms: number): string {
  return `${figure(ms / 1000)} s`;
}

/** A file of the final patch, as git's rename detection sees it. Line counts are null for binary files. */
export const ChangedFile = z.strictObject({
  path: z.string(),
  kind: ChangeKind,
  from: z.string().optional().describe('The old path of a rename'),
  additions: z.int().nullable().describe('Lines added; null for a binary file'),
  deletions: z.int().nullable().describe('Lines removed; null for a binary file'),
});
export type ChangedFile = z.infer<typeof ChangedFile>;

/** `result.json`, version 1. The published JSON schema is generated from this object. */
export const RunResult = z.strictObject({
  version: z.literal(1),
  runId: z.string(),
  patchsmith: z.string().describe('Version of patchsmith'),
  status: z
    .enum(['running', 'finished'])
    .describe(
      'running: written at the start and replaced at the end; when the process has died, by the next command over the run',
    ),
  outcome: OutcomeName.nullable().describe('null while the run is running'),
  exitCode: z.int().nullable(),
  reason: z.string(),
  summary: z.string().describe("The model's own summary of its work; not evidence"),
  plan: z
    .strictObject({
      title: z.string(),
      sha256: z.string(),
      source: PlanSource,
      allow: z
        .array(z.string())
        .describe("Globs of the plan and the settings' are both enforced; empty: all"),
      protect: z.array(z.string()),
    })
    .nullable(),
  paths: z
    .strictObject({ allow: z.array(z.string()), protect: z.array(z.string()) })
    .nullable()
    .describe("The settings' globs; null before the run has begun"),
  principles: z.array(
    z.strictObject({ path: z.string(), sha256: z.string(), bytes: z.int(), truncated: z.boolean() }),
  ),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  baseSha: z.string().nullable().describe('HEAD when the run began; null in a repository without commits'),
  baseBranch: z
    .string()
    .nullable()
    .describe('Branch that was checked out when the run began; null with a detached HEAD'),
  baseTree: z
    .string()
    .nullable()
    .describe(
      'Tree of the work tree when the run began, uncommitted changes included; the patch applies to it',
    ),
  baseDirty: z.boolean().nullable().describe('The work tree differed from baseSha when the run began'),
  treeSha: z.string().nullable().describe('Tree that the patch makes of baseTree'),
  patch: z
    .strictObject({ path: z.string(), sha256: z.string(), bytes: z.int() })
    .nullable()
    .describe('null when no patch could be proven, or when it is withheld'),
  changedFiles: z.array(ChangedFile),
  provenance: Provenance.nullable().describe('Which changes made the patch; null when there is no patch'),
  flags: z.array(Flag).describe('Changes of the patch that deserve a second look'),
  secrets: z
    .array(FoundSecret)
    .describe(
      'What looks like a secret in lines that the patch adds; unless all are accepted, it is withheld',
    ),
  unexplained: z
    .array(z.strictObject({ path: z.string(), by: z.enum(['tool', 'setup', 'verify', 'outside']) }))
    .describe(
      'Paths last changed by verify commands or by something outside the run; that is not in the patch',
    ),
  putBack: z
    .array(z.strictObject({ path: z.string(), by: z.enum(['tool', 'setup', 'verify', 'outside']) }))
    .describe('Paths that commands changed against allow and protect, and that the runner put back'),
  ignoredFiles: z
    .array(z.string())
    .describe(
      'Files that tools and commands changed and that .gitignore keeps out of the patch, and such folders (with a slash at the end) in which names came, went or changed, or that were moved; of more than 100, programs, settings and dependencies first',
    ),
  ignoredFileCount: z.int().default(0).describe('Number of all such files and folders'),
  removedGitDirs: z
    .array(z.string())
    .describe(
      'Git dirs (.git, in any spelling) that commands made and that the runner removed; the files beside them stayed',
    ),
  nestedChanges: z
    .array(z.strictObject({ path: z.string(), files: z.array(z.string()) }))
    .describe(
      'Submodules and other repositories in the work tree in which something changed while the run went on, each with at most 100 of the files and folders; that is not in the patch',
    ),
  iterations: z.int(),
  tokens: Usage,
  costUsd: z.union([z.number(), z.literal('unknown')]),
  durations: z.strictObject({
    totalMs: z.number(),
    modelMs: z.number().describe('Waiting for the model, retries included'),
  }),
  setup: z.array(CommandReport),
  verify: z.array(CommandReport),
  unverified: z
    .array(z.string())
    .default([])
    .describe(
      'Paths with other contents in the patch than the verify commands had before them: the commands changed them, or they changed afterwards',
    ),
  verifyIn: z
    .enum(VERIFY_PLACES)
    .nullable()
    .default(null)
    .describe(
      'Where the verify commands ran: in the work tree, or in a fresh checkout of the base with the patch; null before the run has begun',
    ),
  verifyBaseline: z
    .array(CommandReport)
    .nullable()
    .describe('What the verify commands did before the work; null when that was not asked for'),
  preexistingFailures: z
    .array(z.string())
    .describe('Verify commands that failed at the end as they had failed before the work'),
  sandbox: SandboxLevel.nullable(),
  commandLimits: EnforcedLimits.nullable().describe(
    'What commands may take of the machine; null before there is a sandbox',
  ),
  network: NetworkUse.nullable().describe(
    'What commands could reach; null without a sandbox, when they reach what the machine reaches, and before there is one',
  ),
  warnings: z.array(z.string()),
});
export type RunResult = z.infer<typeof RunResult>;
