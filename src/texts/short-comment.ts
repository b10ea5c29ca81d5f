/** A comment that says how things stand, without the account of a run. */

import template from '../../prompts/issue-comment.md';
import { render } from '../domain/text/template.ts';

/** Its parts, in Markdown that mentions nobody and closes nothing. */
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
export function shortComment({ runUrl, link = 'Log and artifacts', ...words }: ShortComment): string {
  const links = runUrl === null ? '' : ` [${link}](${runUrl}).`;
  return render(template, { ...words, pull_request: '', links, account: '' });
}
