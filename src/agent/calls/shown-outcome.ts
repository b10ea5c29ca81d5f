/** The result of a call as the model sees it: redacted, truncated, with its notices. Nothing else truncates a result. */

import { cutTo, type Excerpt, excerptLength } from '../../domain/conversation/excerpt.ts';
import type { ToolOutcome } from '../../domain/conversation/tool.ts';
import {
  type FoundImage,
  type Image,
  imageBytes,
  MAX_CONVERSATION_BYTES,
  MAX_IMAGES,
  MAX_RUN_BYTES,
  tooLargeImage,
} from '../../domain/images/image.ts';
import type { ShownImages } from '../../domain/images/shown.ts';
import { signsIn } from '../../domain/review/denial-signs.ts';
import { type Redact, redactedExcerpt, redactedStrings } from '../../domain/secrets/redact.ts';
import { formatNumber } from '../../domain/text/words.ts';
import type { NextCall, ToolResult } from '../../ports.ts';

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

/**
 * How many images the conversation can still take during one turn. It is decided in the order of the calls, so that a replay decides
 * the same.
 */
export class ImageRoom {
  #shown: ShownImages;
  readonly #redact: Redact;

  constructor(shown: ShownImages, redact: Redact) {
    this.#shown = shown;
    this.#redact = redact;
  }

  /** The images that are shown, and one line for each other image that says why it is not. */
  take(found: readonly FoundImage[]): {
    readonly images: readonly Image[];
    readonly notes: readonly string[];
  } {
    const images: Image[] = [];
    const notes: string[] = [];
    for (const { bytes, ...header } of found) {
      // Of many images most do not fit, and only those that fit are converted to base64.
      const why = tooLargeImage({ ...header, bytes }) ?? this.#whyNoRoom(bytes.length);
      const data = why === null ? Buffer.from(bytes).toString('base64') : '';
      const refusal = why ?? this.#whyNotTold(data, bytes);
      if (refusal === null) {
        const image = { ...header, data };
        images.push(image);
        this.count([image]);
      } else notes.push(`[Not shown: ${refusal}.]`);
    }
    return { images, notes };
  }

  /** Counts images that are shown even without room, since they are recorded. */
  count(images: readonly Image[]): void {
    for (const image of images) {
      const { count, bytes, runBytes } = this.#shown;
      const more = imageBytes(image);
      this.#shown = { count: count + 1, bytes: bytes + more, runBytes: runBytes + more };
    }
  }

  #whyNoRoom(size: number): string | null {
    const { count, bytes: before, runBytes } = this.#shown;
    if (count >= MAX_IMAGES) return `the conversation has ${MAX_IMAGES} images already`;
    if (before + size > MAX_CONVERSATION_BYTES)
      return `the images of a conversation may have ${formatNumber(MAX_CONVERSATION_BYTES)} bytes together`;
    if (runBytes + size > MAX_RUN_BYTES)
      return `the images of a run may have ${formatNumber(MAX_RUN_BYTES)} bytes together`;
    return null;
  }

  #whyNotTold(data: string, bytes: Uint8Array): string | null {
    // Everything recorded is redacted, and redacting part of an image would make it a different one.
    const text = Buffer.from(bytes).toString('latin1');
    return this.#redact(text) === text && this.#redact(data) === data
      ? null
      : 'it holds a secret of this run';
  }
}
