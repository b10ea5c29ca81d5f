/** The comment on the issue that requested the work: the result, the reason, and what to do. */

import { escaped, pathCode, verbatim } from '../domain/github/publishing/markdown.ts';
import type { Publication } from '../domain/github/publishing/publication.ts';
import type { OutcomeName } from '../domain/run/exit-code.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import { sentence } from '../domain/text/words.ts';
import { bullets } from './bounded-list.ts';
import { wordsFor } from './comment-words.ts';
import {
  attemptsLine,
  deniedList,
  factsLine,
  folded,
  ownWords,
  paragraphs,
  reviewSection,
  withoutMachinePaths,
} from './run-parts.ts';

/** The contents of the comment on an issue. */
export interface CommentFacts extends Pick<Publication, 'conflicts' | 'warnings'> {
  /** Contains no secrets. */
  readonly result: RunResult;
  /** The outcome of the publication. */
  readonly outcome: RunOutcome;
  readonly pullRequest:
    | (Pick<PullMade, 'number' | 'draft' | 'operation'> & { readonly draftReasons: readonly string[] })
    | null;
  /** Page of the workflow run; null outside a workflow. */
  readonly runUrl: string | null;
  /** Page of the repository, to whose pull requests a reason may lead. */
  readonly repositoryUrl: string;
  /** What could not be published, to be applied by hand; null for none. */
  readonly patch?: Uint8Array | null;
  /** Made by a step of the action, whose readers know inputs and not flags. */
  readonly isStep: boolean;
  /** Lets a later run find the comment for its plan. */
  readonly marker: string;
}

type PullMade = NonNullable<Publication['pullRequest']>;

/** Always far below the 65,536 characters that GitHub accepts. */
export function commentText(facts: CommentFacts): string {
  const { result, pullRequest, conflicts, runUrl, marker, outcome } = facts;
  const { name, reason } = outcomeForReaders(facts);
  const words = wordsFor(facts, name);
  const open = pullRequest === null || pullRequest.operation === 'closed' ? null : pullRequest;
  const isLacking = open !== null && name === 'publish_failed';
  const bounds = { maxLength: 8_000, maxLines: 50, noun: 'file' };
  const files = bullets(conflicts, ({ path, why }) => `${pathCode(path)}: ${escaped(why, 200)}`, bounds);
  const denied = deniedList(result, 4_000);
  const attempt = attemptsLine(result);
  // The pull request contains it already, and a blocked run's reason is the model's own account.
  const account = open !== null || result.outcome === 'blocked' ? '' : ownWords(result, 4_000);
  // An answer comes before what can be done next; of a failure, people want to know that first.
  const isAnswer = outcome.exitCode === 0;
  const next = isLacking ? LACKING : open === null ? words.next : nextOf(open);
  const opened =
    open && `**${OPENED[open.operation]}${isLacking ? ', but not everything is as requested' : ''}**`;
  return paragraphs([
    open === null ? `**${words.headline}**` : `${opened}: #${open.number}${open.draft ? ' (draft)' : ''}`,
    open === null
      ? reasonText(files === '' ? reason : reason.replace(LISTED_FILES, '$1.'), facts)
      : factsLine(result),
    attempt === '' ? '' : `Attempt ${attempt}`,
    isLacking ? reasonText(reason, facts) : '',
    lackingOf(facts),
    files,
    reviewSection(result, 6_000),
    denied === '' ? '' : `Denied to the run:\n\n${denied}`,
    isAnswer ? account : '',
    `${facts.isStep ? next.replace('`--publish-unfinished`', '`publish-unfinished: true`').replace('`--', '`') : next}${linkTo(runUrl)}`,
    isAnswer ? '' : account,
    isAnswer ? '' : patchOf(facts),
    marker,
  ]);
}

function linkTo(runUrl: string | null, link = 'Log and artifacts'): string {
  return runUrl === null ? '' : ` [${link}](${runUrl}).`;
}

/** Most characters of a patch in a comment, which has to stay below 65,536. */
const MAX_PATCH = 30_000;

function patchOf({ patch = null }: CommentFacts): string {
  if (patch === null) return '';
  const { block, isEncoded } = verbatim(patch);
  if (block.length > MAX_PATCH) return 'The patch is too long for a comment; it is among the artifacts.';
  return folded(`The patch, for <code>${isEncoded ? 'base64 -d | ' : ''}git apply</code>`, block);
}

/** In the comment the files are a separate list, and the pull request is named above. */
const LISTED_FILES = /^(The patch does not fit onto [^:]*): .*$/s;

/** What the pull request should have had besides its text. */
function lackingOf(facts: CommentFacts): string {
  const code = '[WARN_PULL_REQUEST_INCOMPLETE] ';
  const said = facts.warnings.filter((one) => one.startsWith(code)).map((one) => one.slice(code.length));
  return said.length === 0 ? '' : reasonText(said.join('; '), facts);
}

/** In patchsmith's own texts, the address of a pull request becomes a link. */
function reasonText(reason: string, { repositoryUrl }: CommentFacts): string {
  const page = `${repositoryUrl}/pull/`;
  const [before = '', ...after] = withoutMachinePaths(asSentence(reason)).replaceAll(HASH, '').split(page);
  const named = after.map((rest) => `${/^\d{1,9}(?!\d)/.test(rest) ? HASH : page}${rest}`);
  return escaped([before, ...named].join(''), 2_000).replaceAll(HASH, '#');
}

/** Stands for a `#` that is ours while the text around it is escaped. */
const HASH = '\uE000';

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

function nextOf({ draft, draftReasons }: NonNullable<CommentFacts['pullRequest']>): string {
  if (draftReasons.length === 0)
    return `${draft ? 'It is still a draft, although this run gives no reason for it' : 'It is ready for review'}. Running the plan again updates the same pull request.`;
  return `The pull request says why it ${draft ? 'is' : 'should be'} a draft. Run the plan again to replace the work, or take the branch over by hand.`;
}

const LACKING =
  'Fix what is missing by hand, or publish again, which needs no new run and opens no second pull request.';

const OPENED: Readonly<Record<PullMade['operation'], string>> = {
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

/** Sections of a comment in Markdown. Mentions and closing keywords in it are neutralized. */
export interface ShortComment {
  readonly headline: string;
  readonly reason: string;
  readonly next: string;
  /** Lets the publication find the comment. */
  readonly marker: string;
  /** Page of the workflow run; null outside a workflow, and where the comment is to stay the same. */
  readonly runUrl: string | null;
  /** What the link to it says. Default: Log and artifacts. */
  readonly link?: string;
}

/** In the form of the comment with an outcome. */
export function shortComment({ headline, reason, next, runUrl, link, marker }: ShortComment): string {
  return paragraphs([`**${headline}**`, reason, `${next}${linkTo(runUrl, link)}`, marker]);
}
