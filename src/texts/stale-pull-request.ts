/** The comment on an open pull request for whose plan a later run has found nothing to change. */

import template from '../../prompts/stale-pull-request.md';
import { code } from '../domain/github/publishing/markdown.ts';
import type { RunResult } from '../domain/run/result.ts';
import { render } from '../domain/text/template.ts';

/** What the comment says. */
export interface StaleFacts {
  readonly result: Pick<RunResult, 'runId'>;
  /** Branch that the pull request goes into, and the commit that it is at. */
  readonly base: { readonly branch: string; readonly sha: string };
  readonly isClosed: boolean;
  /** Why it stays open although closing was requested; null if it was not. */
  readonly whyOpen: string | null;
  /** Page of the workflow run; null outside a workflow. */
  readonly runUrl: string | null;
  readonly marker: string;
}

/** Markdown that mentions nobody and closes nothing. */
export function staleComment({ result, base, isClosed, whyOpen, runUrl, marker }: StaleFacts): string {
  return render(template, {
    headline: isClosed ? 'Closed: there is nothing left to change' : 'This may not be needed any more',
    reason: `A later run of the same plan (${code(result.runId)}) found nothing to change on ${code(base.branch)} at ${code(base.sha.slice(0, 12))}.`,
    next: isClosed
      ? 'Reopen it if it is still wanted.'
      : `${whyOpen === null ? '' : `It stays open, since ${whyOpen}. `}Merge it if it is still wanted, and close it if not.`,
    links: runUrl === null ? '' : ` [Log and artifacts](${runUrl}).`,
    marker,
  });
}
