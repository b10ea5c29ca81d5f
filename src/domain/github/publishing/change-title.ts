/** What a change is called: in the title of its pull request, in the subject of its commit, and in the list of follow-ups. */

import type { RunResult } from '../../run/result.ts';

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
