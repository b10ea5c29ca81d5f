/** What an outcome means to the author of an issue, and what they can do. */

import type { OutcomeName } from '../domain/run/exit-code.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';

/** A headline, and what can be done. */
export interface CommentWords {
  readonly headline: string;
  readonly next: string;
}

/** `name` is the outcome that readers want to know; `end` that of the publication. */
export function wordsFor(
  { result, outcome: end }: { readonly result: RunResult; readonly outcome: RunOutcome },
  name: OutcomeName,
): CommentWords {
  const { plan, runId, outcome, patch, iterations, followUp } = result;
  if (end.errorCode === 'ERR_RUN_UNTRUSTED' && runId !== '') return UNTRUSTED;
  if (plan === null) return (runId === '' ? NO_RESULT : BEFORE_PLAN[name]) ?? OUTCOMES[name];
  // The run has ended, and what is wrong is wrong with its publication.
  if (name === 'usage_error' && outcome !== name && outcome !== null) return OUTCOMES.publish_failed;
  if (name === 'publish_failed' && patch === null) return iterations === 0 ? NOT_STARTED : NO_PATCH;
  if (name === 'no_change' && followUp !== null && iterations === 0) return NOT_CONTINUED;
  return OUTCOMES[name];
}

const NOT_STARTED: CommentWords = {
  headline: 'The run was not started',
  next: 'No model was asked, since its work could not be published. When that is fixed, run it again.',
};

const NOT_CONTINUED: CommentWords = {
  headline: 'The pull request was not continued',
  next: 'No model was asked.',
};

const UNTRUSTED: CommentWords = {
  headline: 'What the run left cannot be trusted',
  next: 'Nothing was published. Have a maintainer look at where the artifact comes from, and run it again.',
};

const NO_PATCH: CommentWords = {
  headline: 'The change could not be published',
  next: 'There is no patch. When that is fixed, run it again.',
};

/** The job that carries out the plan was cut off, or failed in a step before. */
const NO_RESULT: CommentWords = {
  headline: 'The run left no result',
  next: 'The log says why; when that is fixed, run it again.',
};

/** What a refusal means that came before there was a plan, so that nothing of the repository can be the reason. */
const BEFORE_PLAN: Partial<Record<OutcomeName, CommentWords>> = {
  publish_failed: NOT_STARTED,
  policy_violation: {
    headline: 'This request was not accepted',
    next: 'Nothing was run, and no model was asked.',
  },
  usage_error: {
    headline: 'The run could not begin',
    next: 'No model was asked. A maintainer must fix the workflow, its secrets or the plan; then it can be run again.',
  },
};

/** What each outcome means to the author of the issue, and what they can do. */
const OUTCOMES: Readonly<Record<OutcomeName, CommentWords>> = {
  done: { headline: 'The work is done', next: 'No pull request was asked for.' },
  no_change: {
    headline: 'Nothing was changed',
    next: 'If something should have changed, describe here which files or which behaviour, and run it again.',
  },
  verify_failed: {
    headline: 'The change does not pass verification',
    next: 'See the log for what failed, make the plan more precise, and run it again.',
  },
  blocked: {
    headline: 'The model could not do it',
    next: 'Answer what is missing here or in the plan, and run it again.',
  },
  limit_reached: {
    headline: 'A limit ended the run before the work was done',
    next: 'Raise the limit or ask for less at once. The unfinished patch is among the artifacts; `--publish-unfinished` makes a draft of it.',
  },
  deadline: {
    headline: 'Time ran out before the work was done',
    next: 'Raise `--deadline` or ask for less at once. The unfinished patch is among the artifacts; `--publish-unfinished` makes a draft of it.',
  },
  interrupted: {
    headline: 'The run was stopped',
    next: 'Run it again. What was done so far is among the artifacts.',
  },
  policy_violation: {
    headline: 'The change is not allowed',
    next: 'Ask for a change without that, or let a maintainer allow it in the workflow; then run it again.',
  },
  publish_failed: {
    headline: 'The change could not be published',
    next: 'The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.',
  },
  provider_error: {
    headline: 'The model could not be asked',
    next: 'A maintainer must check the key, the billing or the status of the API; then run it again.',
  },
  sandbox_unavailable: {
    headline: 'There was no sandbox for commands, so nothing was run',
    next: 'A maintainer must set one up on this runner; `patchsmith doctor` says how.',
  },
  usage_error: {
    headline: 'The run could not begin',
    next: 'A maintainer must fix the workflow or the plan.',
  },
  internal_error: {
    headline: 'patchsmith has failed',
    next: 'This is a bug in patchsmith: the log says where to report it.',
  },
};
