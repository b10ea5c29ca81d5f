/** The result of a run: `result.json`, and the document on stdout. */

import * as z from 'zod';
import { Attempts } from '../attempts/attempts.ts';
import { ChangedFile } from '../changes/change.ts';
import { Provenance } from '../changes/provenance.ts';
import { ContextCompacted } from '../conversation/compaction.ts';
import { Usage } from '../conversation/conversation.ts';
import { ErrorCodeText } from '../errors/problem.ts';
import { ModelUse } from '../fallback.ts';
import { ReviewPart } from '../findings/review.ts';
import { FollowUp } from '../github/follow-up.ts';
import { ServerUse } from '../mcp/chosen-tools.ts';
import { Denial, MAX_DENIALS } from '../review/denied.ts';
import { NetworkUse } from '../review/egress.ts';
import { Flag } from '../review/flag.ts';
import { FoundSecret } from '../secrets/secret-scan.ts';
import { CommandReport, PathGlobs, PlanRecord, SandboxLevel, SupersededEnd, VerifyRound } from './events.ts';
import { OutcomeName } from './exit-code.ts';
import { EnforcedLimits } from './limits.ts';
import { VERIFY_PLACES } from './model-settings.ts';
import { PrinciplesRecord } from './plan.ts';

/** Whether the tests in a patch show that it works: they fail without the rest of it, and pass with it. */
export const TestProof = z.strictObject({
  status: z
    .enum(['proven', 'not_proven', 'not_applicable'])
    .describe(
      'proven: a verify command that passes with the patch fails on the base with only its tests; not_proven: all pass there too; not_applicable: it could not be tried',
    ),
  why: z.string().describe('What was seen, or why nothing was, as a sentence'),
  tests: z.array(z.string()).describe('The files of the patch that count as tests; at most 100'),
  reports: z.array(CommandReport).describe('The verify commands on the base with only these files'),
});
export type TestProof = z.infer<typeof TestProof>;

/** A patch in the run directory. */
const PatchFile = z.strictObject({ path: z.string(), sha256: z.string(), bytes: z.int() });

/** A path, and who changed it. */
const ChangedPath = z.strictObject({
  path: z.string(),
  by: z.enum(['tool', 'setup', 'verify', 'outside']),
});

/** `result.json`, version 1. The published JSON schema is generated from this object. */
export const RunResult = z.strictObject({
  version: z.literal(1),
  runId: z.string(),
  patchsmith: z.string().describe('Version of patchsmith'),
  replayOf: z.string().nullable().describe('Of a replay: the run that was played again'),
  status: z
    .enum(['running', 'finished'])
    .describe(
      'running: written at the start and replaced at the end, or, if the process died, by the next command on the run',
    ),
  outcome: OutcomeName.nullable().describe('null while the run is running'),
  exitCode: z.int().nullable(),
  reason: z.string(),
  errorCode: ErrorCodeText.nullable().describe(
    'Why it did not end well, such as ERR_NO_TASK; `patchsmith help CODE` says what it means and what to do. null for a run that is still running or has ended well',
  ),
  superseded: z
    .array(SupersededEnd)
    .describe('Earlier ends of this run, before it was resumed, oldest first'),
  summary: z.string().describe("The model's own summary of its work; not evidence"),
  answer: z.json().describe("The model's answer, which fits the schema of --output-schema; null without one"),
  plan: PlanRecord.nullable(),
  followUp: FollowUp.nullable().describe(
    'The pull request that the run continues; null when it starts a new one',
  ),
  paths: PathGlobs.nullable().describe("The settings' globs; null before the run has started"),
  principles: z.array(PrinciplesRecord),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  root: z.string().nullable().describe('The checkout, on the machine of the run; null where none was found'),
  workingDirectory: z
    .string()
    .nullable()
    .describe(
      'The folder in which commands start, relative to the root; empty for the root, null where none was found',
    ),
  baseSha: z.string().nullable().describe('HEAD when the run started; null in a repository without commits'),
  baseBranch: z
    .string()
    .nullable()
    .describe('Branch that was checked out when the run started; null with a detached HEAD'),
  baseTree: z
    .string()
    .nullable()
    .describe(
      'Tree of the work tree when the run started, uncommitted changes included; the patch applies to it',
    ),
  baseDirty: z.boolean().nullable().describe('The work tree differed from baseSha when the run started'),
  treeSha: z.string().nullable().describe('Tree that results from applying the patch to baseTree'),
  patch: PatchFile.nullable().describe('null when no patch could be proven, or when it is withheld'),
  uncommittedPatch: PatchFile.nullable().describe(
    'The uncommitted work that the run started with, as a patch of baseSha: `patch` applies after it. null where baseDirty is false, and where there is no patch',
  ),
  changedFiles: z.array(ChangedFile),
  provenance: Provenance.nullable().describe('Which changes made the patch; null when there is no patch'),
  flags: z.array(Flag).describe('Changes of the patch that deserve a second look'),
  secrets: z
    .array(FoundSecret)
    .describe(
      'What looks like a secret in lines that the patch adds; unless all are accepted, it is withheld',
    ),
  unexplained: z
    .array(ChangedPath)
    .describe(
      'Paths last changed by verify commands or by something outside the run; that is not in the patch',
    ),
  putBack: z
    .array(ChangedPath)
    .describe('Paths that commands changed against allow and protect, and that the runner reverted'),
  denied: z
    .array(Denial)
    .describe(
      `What calls, setup and verify commands asked for and did not get; at most ${MAX_DENIALS}. Of commands only what they print is known`,
    ),
  deniedCount: z.int().describe('Their total number'),
  ignoredFiles: z
    .array(z.string())
    .describe(
      'Files that changed since the work began, whoever changed them (the changes in the journal say who), and that ignore rules, as they are at the end, keep out of the patch, and such folders (with a slash at the end) in which names came, went or changed, or that were moved; also pipes, sockets and empty folders, which git does not have; of more than 100, programs, settings and dependencies first',
    ),
  ignoredFileCount: z.int().describe('Number of all such files and folders'),
  hiddenFiles: z
    .array(z.string())
    .describe(
      'Files that the run made and that an ignore rule written later keeps out of the patch; at most 1,000',
    ),
  exposedFiles: z
    .array(z.string())
    .describe(
      'Files that existed before the run and were ignored, but that no rule hides any more: git add --all would add them, the patch has none of them; at most 1,000',
    ),
  removedGitDirs: z
    .array(z.string())
    .describe(
      'Git dirs (.git, in any spelling) that commands created and the runner removed; the files next to them stayed',
    ),
  nestedChanges: z
    .array(z.strictObject({ path: z.string(), files: z.array(z.string()) }))
    .describe(
      'Submodules and other repositories in the work tree in which something changed during the run, each with at most 100 of the files and folders; that is not in the patch',
    ),
  iterations: z.int(),
  compactions: z
    .array(
      z.strictObject({
        how: ContextCompacted.shape.how,
        why: ContextCompacted.shape.why,
        iteration: z.int().describe('Turns before it'),
        tokens: z.number().describe('Size of the conversation before'),
        dropped: z.int().describe('Messages that were dropped'),
        kept: z.int().describe('Messages that were kept in addition to the task'),
        usage: Usage.describe('Of the summary; part of tokens'),
        costUsd: z.union([z.number(), z.literal('unknown')]).describe('Of the summary; part of costUsd'),
      }),
    )
    .describe('Compactions of the conversation, oldest first'),
  failedCompactions: z
    .int()
    .describe('Compactions that failed, so that the conversation continued as it was'),
  models: z
    .array(ModelUse)
    .describe(
      'Every model that answered, in order, with its part of tokens and costUsd; more than one only with --fallback-model and --review',
    ),
  review: ReviewPart.nullable().describe(
    'What a reviewer found in the finished work; null if no review was requested',
  ),
  attempts: Attempts.nullable().describe(
    'With --attempts: all of them, and which one is in the work tree; null for a run without',
  ),
  tokens: Usage.describe('Of the whole run, including all its attempts'),
  costUsd: z.union([z.number().nonnegative(), z.literal('unknown')]).describe('As tokens'),
  estimated: z
    .boolean()
    .describe(
      'tokens and costUsd are partly estimated from the bytes: the provider does not count tokens, an answer was cut off before it had reported them, or a request was given up before its answer',
    ),
  durations: z.strictObject({
    totalMs: z.number(),
    modelMs: z.number().describe('Waiting for the model, retries included'),
  }),
  setup: z.array(CommandReport),
  verify: z.array(CommandReport),
  verifyRounds: z
    .array(VerifyRound)
    .describe('All verifications, oldest first, each with the tree it was of; verify has the last one'),
  flaky: z
    .array(z.string())
    .describe('Verify commands that failed and passed on the same files, so that how they end is chance'),
  unverified: z
    .array(z.string())
    .describe(
      'Paths which the verify commands saw with other contents than the base with the patch has: they changed a file of the patch, it changed afterwards, or something outside the run changed the path',
    ),
  verifyIn: z
    .enum(VERIFY_PLACES)
    .nullable()
    .describe(
      'Where the verify commands ran: in the work tree, or in a fresh checkout of the base with the patch; null before the run has started',
    ),
  verifyBaseline: z
    .array(CommandReport)
    .nullable()
    .describe('Results of the verify commands before the work; null if not requested'),
  preexistingFailures: z
    .array(z.string())
    .describe('Verify commands that failed at the end as before the work'),
  testProof: TestProof.nullable().describe(
    'Whether the tests in the patch fail without the rest of it; null if it has none, was not verified, or no proof was wanted',
  ),
  sandbox: SandboxLevel.nullable(),
  commandLimits: EnforcedLimits.nullable().describe(
    'Limits of commands on this machine; null before there is a sandbox',
  ),
  network: NetworkUse.nullable().describe(
    'What commands may reach, and every host that the run asked for; null before there is a sandbox, or none was wanted',
  ),
  mcp: z.array(ServerUse).describe('MCP servers of the run, and their tools'),
  warnings: z
    .array(z.string())
    .describe(
      'Each begins with its code in brackets, such as [WARN_NO_SANDBOX]; `patchsmith help codes` lists them',
    ),
});
export type RunResult = z.infer<typeof RunResult>;
