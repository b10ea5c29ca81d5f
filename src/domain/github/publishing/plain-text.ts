/**
 * Text from outside for places that GitHub shows without Markdown: titles and commit messages. GitHub interprets those raw,
 * and a squash merge turns title and body into a commit message, so nothing in them may close an issue or skip checks.
 */

import { shortened } from '../../text/shorten.ts';
import { oneLine } from '../../text/terminal.ts';

/**
 * One line that mentions nobody, refers to nothing and gives CI no instructions; every modification is visible. May be
 * empty.
 */
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

/**
 * Also matches the start of a team mention: `@org/team`. No `i` flag: with `u` it makes `ſ` and the Kelvin sign match ASCII
 * letters.
 */
const MENTION = /(?<![A-Za-z0-9_])@(?=[\p{L}\p{N}_])/gu;

/** `#1`, `owner/repo#1`. */
const NUMBER_SIGN = /#(?=\p{Nd})/gu;

/** `GH-1`, but not the end of a word, as in `high-5`. */
const GH_REFERENCE = /(?<![A-Za-z0-9_])([Gg][Hh])-(?=\p{Nd})/gu;

/** The address of an issue closes it just as its number does. */
const SCHEME = /:\/\/(?=\S)/g;

/** Keeps workflows from starting if it is in the commit message. */
export const SKIP_DIRECTIVE = /\[\s*(skip ci|ci skip|no ci|skip actions|actions skip)\s*\]/gi;
