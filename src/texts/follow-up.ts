/** The texts of a follow-up: a line in the pull request's text, and the answers in review threads. */

import type { FollowUp } from '../domain/github/follow-up.ts';
import { code, escaped } from '../domain/github/publishing/markdown.ts';
import { changeSubject } from '../domain/github/publishing/plain-text.ts';
import { verificationOf } from '../domain/github/publishing/policy.ts';
import type { RunResult } from '../domain/run/result.ts';
import { ownWords, paragraphs } from './run-parts.ts';

/** Most follow-ups that the text lists; older lines make room. */
const MAX_LINES = 20;

const BEGIN = '<!-- patchsmith-follow-ups -->';
const END = '<!-- /patchsmith-follow-ups -->';

/** The text with a line for this follow-up, after those of earlier ones, before the record. The same facts give the same text. */
export function withFollowUp(
  body: string,
  { result, followUp, sha }: { result: RunResult; followUp: FollowUp; sha: string },
): string {
  const text = body.replaceAll('\r\n', '\n');
  const line = `- ${code(sha.slice(0, 12))} ${WHY[followUp.trigger]}: ${escaped(changeSubject(result), 120)} (${VERIFIED[verificationOf(result)]})`;
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END, begin);
  if (begin !== -1 && end !== -1) {
    const lines = text
      .slice(begin + BEGIN.length, end)
      .split('\n')
      .filter((one) => one.startsWith('- '));
    if (lines.some((one) => one.startsWith(`- ${code(sha.slice(0, 12))} `))) return text;
    return `${text.slice(0, begin)}${section([...lines, line].slice(-MAX_LINES))}${text.slice(end + END.length)}`;
  }
  const at = text.indexOf('<!-- patchsmith-record: ');
  return at === -1 ? text : `${text.slice(0, at)}${section([line])}\n\n${text.slice(at)}`;
}

function section(lines: readonly string[]): string {
  return `${BEGIN}\n**Follow-ups**\n\n${lines.join('\n')}\n\n${END}`;
}

const WHY = {
  request: 'as asked for',
  check: 'for a failed check',
  conflict: 'for a conflict with the base',
} as const;

const VERIFIED = {
  passed: 'verification passed',
  failed: 'verification failed',
  preexisting: 'verification fails as before the work',
  otherwise: 'verified with other contents',
  none: 'not verified',
} as const;

/** The answer in a review thread. */
export function threadAnswer({
  result,
  sha,
  isChanged,
  mark,
}: {
  result: RunResult;
  sha: string;
  /** The commit changes the file that the thread is about. */
  isChanged: boolean;
  /** Lets a second publication find it. */
  mark: string;
}): string {
  const what = isChanged ? `Changed in ${sha}` : `This file is not changed by ${sha}`;
  const account = ownWords(result, 1_500, "In the model's own words, of all that it did:");
  return paragraphs([`${what}; ${VERIFIED[verificationOf(result)]}.`, account, mark]);
}
