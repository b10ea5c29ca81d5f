/** The result of a call as the model sees it: redacted, truncated, with its notices. Nothing else truncates a result. */

import { cutTo, type Excerpt, excerptLength } from '../../domain/conversation/excerpt.ts';
import type { ToolOutcome } from '../../domain/conversation/tool.ts';
import { signsIn } from '../../domain/review/denial-signs.ts';
import { type Redact, redactedExcerpt, redactedStrings } from '../../domain/secrets/redact.ts';
import { formatNumber } from '../../domain/text/words.ts';
import type { NextCall, ToolResult } from '../../ports.ts';
import type { ImageRoom } from './image-room.ts';

/** What bounds an answer. */
interface Telling {
  readonly redact: Redact;
  /** Maximum characters of one result. */
  readonly maxOutputChars: number;
  readonly room: ImageRoom;
}

/** Makes the outcome of a call from the result of its tool. */
export function shownOutcome(
  tool: string,
  result: ToolResult,
  { redact, maxOutputChars, room }: Telling,
): ToolOutcome {
  if (result.status === 'finished') {
    const text = result.verdict === 'done' ? 'Work ended.' : 'Work ended as blocked.';
    const { verdict, answer } = result;
    const answered = answer === undefined ? {} : { answer: redactedStrings(answer, redact) as typeof answer };
    return { status: 'finished', verdict, summary: redact(result.summary), ...answered, text };
  }
  const output = redactedExcerpt(result.output, redact);
  const shown = cutTo(output, maxOutputChars);
  const text = shown.omitted === 0 ? shown.head : withCutNotice(shown, tool, result.next);
  const said = text.trim() === '' ? '(no output)' : text;
  const signs = signsIn((result.signs ?? []).map(redact), result.status);
  const command = {
    ...(result.command === undefined ? {} : { command: result.command }),
    ...(signs.length === 0 ? {} : { signs }),
  };
  if (result.status === 'failed') return { status: 'failed', reason: result.reason, text: said, ...command };
  result.shown?.(shown);
  const { images, notes } = room.take(result.images ?? []);
  const all = [said, ...notes].join('\n');
  return { status: 'ok', text: all, ...command, ...(images.length > 0 ? { images: [...images] } : {}) };
}

/** The outcome with what else the model has to know about its call; an empty notice adds nothing. */
export function withPolicyNotice(outcome: ToolOutcome, notice: string): ToolOutcome {
  return notice === '' ? outcome : { ...outcome, text: `${outcome.text.trimEnd()}\n\n${notice.trimEnd()}` };
}

function withCutNotice(shown: Excerpt, tool: string, next: NextCall | undefined): string {
  const total = excerptLength(shown);
  const notice = `[OUTPUT TRUNCATED: Showing ${formatNumber(total - shown.omitted)} of ${formatNumber(total)} characters from ${tool}]`;
  const rest = next ? ` To see the rest: ${next(shown.head, shown.omitted, shown.tail)}` : '';
  return `${shown.head}\n${notice}${rest}\n${shown.tail}`;
}
