/** The comment on the issue that requested the work: the result, the reason, and what to do. */

import template from '../../prompts/issue-comment.md';
import type { ErrorCode } from '../domain/errors/registry.ts';
import { escaped, pathCode, quoted } from '../domain/github/publishing/markdown.ts';
import { prose } from '../domain/github/publishing/prose.ts';
import type { OutcomeName } from '../domain/run/exit-code.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import { sentence } from '../domain/text/sentence.ts';
import { render } from '../domain/text/template.ts';
import { bullets } from './bounded-list.ts';
import { withoutMachinePaths } from './machine-paths.ts';
import { attemptsLine, deniedList, factsLine, reviewSection } from './run-parts.ts';

/** What the comment on an issue reports. */
export interface CommentFacts {
  /** Contains no secrets. */
  readonly result: RunResult;
  /** The outcome of the publication. */
  readonly outcome: RunOutcome;
  readonly pullRequest: {
    readonly number: number;
    readonly draft: boolean;
    readonly draftReasons: readonly string[];
    readonly operation: Operation;
  } | null;
  /** Files that the base has changed too, so that the patch does not apply. */
  readonly conflicts: readonly { readonly path: string; readonly why: string }[];
  /** Page of the workflow run; null outside a workflow. */
  readonly runUrl: string | null;
  /** Page of the repository, to whose pull requests a reason may lead. */
  readonly repositoryUrl: string;
  /** Made by a step of the action, whose readers know inputs and not flags. */
  readonly isStep: boolean;
  /** Lets a later run find the comment for its plan. */
  readonly marker: string;
}

type Operation = 'created' | 'updated' | 'closed' | 'none';

/** Always far below the 65,536 characters that GitHub accepts. */
export function commentText(facts: CommentFacts): string {
  const { result, pullRequest, conflicts, runUrl, marker, outcome } = facts;
  const { name, reason } = outcomeForReaders(facts);
  const words = wordsFor(facts, name);
  const isOpen = pullRequest !== null && pullRequest.operation !== 'closed';
  const isLacking = isOpen && name === 'publish_failed';
  const bounds = { maxLength: 8_000, maxLines: 50, noun: 'file' };
  const files = bullets(conflicts, ({ path, why }) => `${pathCode(path)}: ${escaped(why, 200)}`, bounds);
  const denied = deniedList(result, 4_000);
  const review = reviewSection(result, 6_000);
  const attempt = attemptsLine(result);
  const account = accountOf(result, isOpen);
  // An answer comes before what can be done next; of a failure, people want to know that first.
  const isAnswer = outcome.exitCode === 0;
  const next = isLacking ? LACKING : isOpen ? nextOf(pullRequest) : words.next;
  return render(template, {
    headline: isOpen
      ? `${OPENED[pullRequest.operation]}${isLacking ? ', but not everything is as requested' : ''}`
      : words.headline,
    pull_request: isOpen ? `: #${pullRequest.number}${pullRequest.draft ? ' (draft)' : ''}` : '',
    reason: [
      isOpen
        ? factsLine(result)
        : reasonText(files === '' ? reason : reason.replace(LISTED_FILES, '.'), facts),
      ...(attempt === '' ? [] : [`Attempt ${attempt}`]),
      ...(isLacking ? [reasonText(reason.replace(IS_INCOMPLETE, ''), facts)] : []),
      ...(files === '' ? [] : [files]),
      ...(review === '' ? [] : [review]),
      ...(denied === '' ? [] : [`Denied to the run:\n\n${denied}`]),
      ...(isAnswer ? account : []),
    ].join('\n\n'),
    next: facts.isStep
      ? next.replace('`--publish-unfinished`', '`publish-unfinished: true`').replace('`--', '`')
      : next,
    links: runUrl === null ? '' : ` [Log and artifacts](${runUrl}).`,
    account: isAnswer ? '' : account.map((text) => `\n\n${text}`).join(''),
    marker,
  });
}

/** In the comment the files have a list of their own, and the pull request stands above. */
const LISTED_FILES = /(?<=^The patch does not fit onto [^:]*): .*$/s;
const IS_INCOMPLETE = /^Pull request #\d+ is on GitHub \(\S+\), but not with everything you asked for: /;

/** In words of ours that name a pull request by its address, it is one that can be followed. */
function reasonText(reason: string, { repositoryUrl }: CommentFacts): string {
  const page = `${repositoryUrl}/pull/`;
  const [before = '', ...after] = withoutMachinePaths(asSentence(reason)).replaceAll(HASH, '').split(page);
  const named = after.map((rest) => `${/^\d{1,9}(?!\d)/.test(rest) ? HASH : page}${rest}`);
  return escaped([before, ...named].join(''), 2_000).replaceAll(HASH, '#');
}

/** Stands for a `#` that is ours while the text around it is escaped. */
const HASH = '\uE000';

/** The comment from the moment that a run begins; the outcome takes its place. */
export function acknowledgement({ runUrl, marker }: Pick<CommentFacts, 'runUrl' | 'marker'>): string {
  return render(template, {
    headline: 'Working on it',
    pull_request: '',
    reason: 'This comment will say what came of it.',
    next: 'Stop it by cancelling the workflow run.',
    links: runUrl === null ? '' : ` [See it work](${runUrl}).`,
    account: '',
    marker,
  });
}

/** For a run that did not finish, that is what people want to know, and not that it was therefore not published. */
function outcomeForReaders({ result, outcome, pullRequest }: CommentFacts): {
  name: OutcomeName;
  reason: string;
} {
  const endedWell = ['done', 'verify_failed', 'no_change', null].includes(result.outcome);
  const isOwnEnd = outcome.name === 'usage_error' || outcome.name === result.outcome;
  if (endedWell || pullRequest !== null || !isOwnEnd) return outcome;
  return { name: result.outcome ?? outcome.name, reason: result.reason };
}

/** The pull request contains it already, and a blocked run's reason is the model's own account. */
function accountOf(result: RunResult, isOpen: boolean): string[] {
  if (isOpen || result.outcome === 'blocked') return [];
  const account = prose(result.summary, 4_000);
  return account === '' ? [] : [`In the model's own words:\n\n${quoted(account)}`];
}

function nextOf({ draft, draftReasons }: NonNullable<CommentFacts['pullRequest']>): string {
  if (draftReasons.length === 0)
    return `${draft ? 'It is still a draft, although this run gives no reason for it' : 'It is ready for review'}. Running the plan again updates the same pull request.`;
  return `The pull request says why it ${draft ? 'is' : 'should be'} a draft. Run the plan again to replace the work, or take the branch over by hand.`;
}

const LACKING =
  'Fix what is missing by hand, or publish again, which needs no new run and opens no second pull request.';

const OPENED: Readonly<Record<Operation, string>> = {
  created: 'Pull request opened',
  updated: 'Pull request updated',
  closed: 'Pull request closed',
  none: 'Pull request is up to date',
};

/** Problems with inputs begin in lower case and end without a full stop; the names of inputs stay as they are. */
function asSentence(reason: string): string {
  const isAboutInputs = /^[a-z][\w-]*(?: and [\w-]+)?: |^\S+[/.]\S/.test(reason);
  return sentence(isAboutInputs ? reason : `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}`);
}

interface CommentWords {
  readonly headline: string;
  readonly next: string;
}

function wordsFor({ result, outcome: end }: CommentFacts, name: OutcomeName): CommentWords {
  const { plan, runId, outcome, patch, iterations, followUp } = result;
  if (end.errorCode === 'ERR_RUN_UNTRUSTED' && runId !== '') return UNTRUSTED;
  // The run has ended, and what is wrong is wrong with its publication.
  if (plan !== null && name === 'usage_error' && outcome !== name && outcome !== null) return NOT_PUBLISHED;
  if (plan !== null && name === 'publish_failed' && patch === null && iterations === 0) return NOT_STARTED;
  if (name === 'no_change' && followUp !== null && iterations === 0) return NOT_CONTINUED;
  if (plan !== null) return { ...OUTCOMES[name], next: nextStep(result, name, end.errorCode) };
  return (runId === '' ? NO_RESULT : BEFORE_PLAN[name]) ?? OUTCOMES[name];
}

/** What to do next depends on why: publishing again does not help where the patch is the reason. */
function nextStep({ patch }: RunResult, name: OutcomeName, errorCode: string | null): string {
  if (name === 'publish_failed' && patch === null)
    return 'There is no patch. When that is fixed, run it again.';
  return NEXT_FOR[errorCode ?? ''] ?? OUTCOMES[name].next;
}

const AGAIN = 'Run it again. The patch of this run is kept among the artifacts.';

/** By the code of the error, where the outcome alone says too little. */
const NEXT_FOR: Readonly<Record<string, string>> = {
  ERR_PATCH_CONFLICT: AGAIN,
  ERR_PATCH_BROKEN: 'Run it again, and have a maintainer look at where the artifact of this run comes from.',
  ERR_MERGE_NOT_MADE: AGAIN,
  ERR_PULL_REQUEST_MOVED:
    'When that is settled, run it again. The patch of this run is kept among the artifacts.',
  ERR_PATCH_TOO_LARGE: 'Ask for less at once, or let a maintainer raise the bound in the workflow.',
  ERR_SECRET_IN_PATCH: 'Ask for a change without it, or let a maintainer accept the file in the workflow.',
  ERR_REPOSITORY_IN_PATCH: 'Ask for a change that leaves these folders alone.',
  ERR_DENIED: 'A maintainer can allow it in the workflow; then run it again.',
  ERR_HIDDEN_PATH: 'Nothing of it was published.',
  ERR_GIT_DIR_IN_DOUBT: 'Nothing of it was published.',
} satisfies Partial<Record<ErrorCode, string>>;

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

const NOT_PUBLISHED: CommentWords = {
  headline: 'The change could not be published',
  next: 'The patch is kept among the artifacts. A maintainer must fix that in the workflow; then publishing is repeated without another run.',
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
    next: 'Ask for a change that leaves these files alone, or let a maintainer allow them in the workflow.',
  },
  publish_failed: {
    headline: 'The change could not be published',
    next: 'The patch is kept among the artifacts; publishing can be repeated without another run.',
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
