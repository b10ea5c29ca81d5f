/** What people read of the rounds in which a pull request is continued. */

import template from '../../prompts/issue-comment.md';
import type { Trigger } from '../domain/github/follow-up.ts';
import { escaped } from '../domain/github/publishing/markdown.ts';
import type { RoundCaps, RoundCounts } from '../domain/github/rounds.ts';
import { render } from '../domain/text/template.ts';

/** `round 1 of 2 without anyone asking, 3 of 20 in 24 hours`. */
export function roundWords({ number, today }: RoundCounts, caps: RoundCaps): string {
  const day = `${today} of ${caps.followUpsPerDay} in 24 hours`;
  return number === 0
    ? `round as requested, ${day}`
    : `round ${number} of ${caps.followUpRounds} without anyone asking, ${day}`;
}

interface CommentParts {
  readonly runUrl: string | null;
  /** Lets the publication find the comment. */
  readonly marker: string;
}

/** The comment from the moment that a round begins without anyone asking. */
export function roundComment({
  trigger,
  counts,
  caps,
  ...parts
}: CommentParts & { trigger: Trigger; counts: RoundCounts; caps: RoundCaps }): string {
  return filled(parts, {
    headline: 'Continuing this pull request',
    reason: `For ${trigger === 'check' ? 'a failed check' : 'a conflict with the base'}: ${roundWords(counts, caps)}. It counts, whatever comes of it.`,
    next: 'The text of the pull request will list the commit; if there is none, this comment will say why.',
  });
}

/** The comment when a cap is reached: without a link, so that it stays the same whatever happens after that. */
export function spentComment({ reason, marker }: Pick<CommentParts, 'marker'> & { reason: string }): string {
  return filled(
    { runUrl: null, marker },
    {
      headline: 'The pull request was not continued',
      reason: escaped(reason, 2_000),
      next: 'No model was asked.',
    },
  );
}

function filled(
  { runUrl, marker }: CommentParts,
  words: { headline: string; reason: string; next: string },
): string {
  const links = runUrl === null ? '' : ` [See the log](${runUrl}).`;
  return render(template, { ...words, pull_request: '', links, account: '', marker });
}
