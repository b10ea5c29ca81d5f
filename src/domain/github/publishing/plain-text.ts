/**
 * Text from outside for places that GitHub shows without Markdown: titles and commit messages. GitHub interprets those raw,
 * and a squash merge turns title and body into a commit message, so nothing in them may close an issue or skip checks.
 */

import type { RunResult } from '../../run/result.ts';
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

/** Longer first lines are cut after their first sentence: as much as the subject of a commit may have. */
const MAX_LINE = 72;

/**
 * The first line of what the model says about its work, if a comment asked for it: "fix this please" names no change. Else the
 * plan's title. Text from outside, and still to be made plain; may be empty.
 */
export function changeTitle({ plan, summary }: Pick<RunResult, 'plan' | 'summary'>): string {
  const title = plan?.source.kind === 'comment' ? firstLine(summary) : '';
  return title || (plan?.title ?? '');
}

/** What was done, in the model's words if these say more than "Done", else the plan's title. Still to be made plain too. */
export function changeSubject({ plan, summary }: Pick<RunResult, 'plan' | 'summary'>): string {
  const line = firstLine(summary);
  return line.includes(' ') ? line : (plan?.title ?? '');
}

/** Without the marks of Markdown, and without a full stop at its end. */
function firstLine(summary: string): string {
  const lines = summary.split(/\r\n|\n|\r/).map((line) =>
    line
      .replace(/^[\s>#*+-]+/, '')
      .replace(/(\*\*|__|`+)/g, '')
      .trim(),
  );
  const line = lines.find((one) => /[\p{L}\p{N}]/u.test(one)) ?? '';
  const sentence = line.length > MAX_LINE ? (/^.{10,}?[.!?](?=\s)/.exec(line)?.[0] ?? line) : line;
  return sentence.replace(/[.:]$/, '');
}
