/** The outputs of the action: their names and meanings, and their values for a run. */

import type { RunDirectory } from '../adapters/storage/run-directory.ts';
import { type VerificationSummary, verificationOf } from '../domain/github/publishing/policy.ts';
import type { Publication } from '../domain/github/publishing/publication.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import { inertJson, oneLine } from '../domain/text/terminal.ts';

/** Names that workflows already read from other actions keep their meanings here. */
export const OUTPUTS = {
  outcome: 'The outcome, such as done, no_change or verify_failed; always set',
  'exit-code': 'The exit code of that outcome',
  'error-code':
    'The code of what went wrong, such as ERR_VERIFY_FAILED (patchsmith help CODE says what it means); empty when it ended well',
  'run-dir': 'The run directory',
  'result-file': 'result.json in the run directory',
  'events-file': 'events.jsonl, the journal, in the run directory',
  resumable:
    'true if the run was cut off in the middle of its work, by a signal or a machine failure, so that mode resume can continue it from the run directory; false if it has ended; empty if there is no run, or it had not started',
  'patch-file': 'The proven patch; empty when there is none or it is withheld',
  'patch-sha256': 'SHA-256 of the patch',
  'base-sha': 'HEAD when the run started; the patch applies to it plus any uncommitted changes',
  'tree-sha': 'The git tree that results from applying the patch',
  'changed-files':
    'JSON list of the changed files with path, kind, from, additions and deletions; null when it would be longer than 1 MB',
  answer:
    'The answer as JSON that fits output-schema; empty without one, or when it would be longer than 1 MB',
  summary:
    "The model's own words about its work, which prove nothing; empty when longer than 1 MB. Pass them to a shell as an environment variable, never as an expression in its script",
  verification:
    'passed, failed (also when everything failed as before the work), or none: nothing was verified, or not the contents of the patch',
  denied:
    'JSON list of what was denied to the run, with kind, what, calls, commands and why: [] when nothing was; at most 100 entries, and null when it would be longer than 1 MB',
  iterations: 'Turns of the model',
  'input-tokens': 'Tokens of all prompts, cached ones included',
  'output-tokens': 'Tokens of all answers',
  'cost-usd': 'Cost in USD, or unknown',
  estimated:
    'true when tokens and cost are partly estimated, because the provider does not count tokens or an answer was cut off before it had reported them',
  'pull-request-number': 'Number of the pull request; empty when there is none',
  'pull-request-url': 'Page of the pull request',
  'pull-request-operation': 'created, updated, closed or none',
  'pull-request-head-sha': 'The commit at the head of the pull request',
  'pull-request-branch': 'The branch of the pull request',
  'pull-request-draft': 'true or false; empty when there is no pull request',
  'comment-url': 'The comment on the issue; empty when there is none',
  continue:
    'In mode prepare: the number of the patchsmith pull request that the event refers to, and that may be continued; empty when there is none',
  ref: 'In mode prepare: what to check out to continue it, refs/pull/NUMBER/head; empty when there is none',
  'pull-requests':
    'In mode prepare: JSON list of the numbers of all pull requests to continue, such as those that conflict with their base after a push; [] when there are none, and empty when the run is to begin anew',
  plans:
    'In mode prepare: JSON list of the plan files that may be carried out, except those whose branches have commits by others; empty when there are none',
} as const satisfies Record<string, string>;

/** The name of an output in `action.yml`. */
export type OutputName = keyof typeof OUTPUTS;
/** Values of outputs; a missing one is not set. */
export type Outputs = Partial<Record<OutputName, string>>;

/** GitHub accepts 1 MB per output. */
const MAX_OUTPUT_CHARS = 1_000_000;

/** The outputs that say how a run or a publication ended. */
export function outcomeOutputs({
  name,
  exitCode,
  errorCode,
}: Pick<RunOutcome, 'name' | 'exitCode' | 'errorCode'>): Outputs {
  return { outcome: name, 'exit-code': String(exitCode), 'error-code': errorCode ?? '' };
}

/** The outputs that say where a run keeps its files. */
export function directoryOutputs({ path, result, events }: RunDirectory): Outputs {
  return { 'run-dir': path, 'result-file': result, 'events-file': events };
}

/** The outputs known once a run has ended. */
export function resultOutputs(result: RunResult): Outputs {
  const { patch, tokens, costUsd } = result;
  const json = (value: unknown, instead: string) => bounded(inertJson(JSON.stringify(value)), instead);
  return {
    'patch-file': patch?.path ?? '',
    'patch-sha256': patch?.sha256 ?? '',
    'base-sha': result.baseSha ?? '',
    'tree-sha': result.treeSha ?? '',
    answer: result.answer === null ? '' : json(result.answer, ''),
    'changed-files': json(result.changedFiles, 'null'),
    summary: bounded(lines(result.summary), ''),
    verification: VERIFICATION[verificationOf(result)],
    denied: json(result.denied, 'null'),
    iterations: String(result.iterations),
    'input-tokens': String(tokens.input + tokens.cacheRead + tokens.cacheWrite + tokens.cacheWrite1h),
    'output-tokens': String(tokens.output),
    'cost-usd': costUsd === 'unknown' ? costUsd : costUsd.toFixed(6),
    estimated: String(result.estimated),
  };
}

function bounded(text: string, instead: string): string {
  return text.length > MAX_OUTPUT_CHARS ? instead : text;
}

/** A later step that prints it says nothing to its runner. */
function lines(text: string): string {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => oneLine(line, MAX_OUTPUT_CHARS))
    .join('\n');
}

const VERIFICATION = {
  passed: 'passed',
  failed: 'failed',
  preexisting: 'failed',
  otherwise: 'none',
  none: 'none',
} as const satisfies Record<VerificationSummary, string>;

/** The outputs of mode prepare for pull requests to continue. */
export function continuedOutputs(pulls: readonly number[]): Outputs {
  const [number = null] = pulls;
  return {
    continue: number === null ? '' : String(number),
    ref: number === null ? '' : `refs/pull/${number}/head`,
    'pull-requests': JSON.stringify(pulls),
  };
}

/** The outputs of mode prepare for plan files. */
export function preparedOutputs(planFiles: readonly string[]): Outputs {
  return { plans: planFiles.length === 0 ? '' : inertJson(JSON.stringify(planFiles)) };
}

/** The outputs known once a publication has ended. */
export function publicationOutputs({ pullRequest, comment }: Publication): Outputs {
  return {
    'pull-request-number': pullRequest === null ? '' : String(pullRequest.number),
    'pull-request-url': pullRequest?.url ?? '',
    'pull-request-operation': pullRequest?.operation ?? 'none',
    'pull-request-head-sha': pullRequest?.headSha ?? '',
    'pull-request-branch': pullRequest?.branch ?? '',
    'pull-request-draft': pullRequest === null ? '' : String(pullRequest.draft),
    'comment-url': comment?.url ?? '',
  };
}
