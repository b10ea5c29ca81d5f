/**
 * Text from outside for places that GitHub shows without Markdown: titles and commit messages. GitHub reads those raw, and a
 * squash merge makes a commit message of title and body, so that nothing in them may close an issue or skip checks.
 */

import { shortened } from '../../text/shorten.ts';
import { oneLine } from '../../text/terminal.ts';

/** One line that mentions nobody, refers to nothing and tells CI nothing; every change can be seen. May be empty. */
export function plainLine(text: string, maxLength: number): string {
  const line = oneLine(text.replace(/\s+/g, ' '), 4 * maxLength).replace(/ +/g, ' ');
  const inert = line
    .trim()
    .replace(MENTION, '＠')
    .replace(NUMBER_SIGN, '# ')
    .replace(GH_REFERENCE, '$1 ')
    .replace(SCHEME, ':// ')
    .replace(SKIP_DIRECTIVE, '($1)');
  return shortened(inert, maxLength);
}

/** Also what stands before the mark of a team: `@org/team`. No flag `i`: with `u` it takes `ſ` and the Kelvin sign for letters of ASCII. */
const MENTION = /(?<![A-Za-z0-9_])@(?=[\p{L}\p{N}_])/gu;

/** `#1`, `owner/repo#1`. */
const NUMBER_SIGN = /#(?=\p{Nd})/gu;

/** `GH-1`, but not the end of a word, as in `high-5`. */
const GH_REFERENCE = /(?<![A-Za-z0-9_])([Gg][Hh])-(?=\p{Nd})/gu;

/** An address of an issue closes it as its number does. */
const SCHEME = /:\/\/(?=\S)/g;

/** What keeps workflows from being started, when it stands in the message of the commit. */
export const SKIP_DIRECTIVE = /\[\s*(skip ci|ci skip|no ci|skip actions|actions skip)\s*\]/gi;
