/** What a model reads from a web answer: HTML as Markdown, other text unchanged. */

import { withinLine } from '../../../domain/text/terminal.ts';

/** A text, or why there is none, as the end of a sentence that begins with its address. */
export type PageText = { status: 'ok'; text: string } | { status: 'failed'; why: string };

/**
 * Converts HTML to Markdown; null for a page that takes too long or too much memory. Rejects when the signal aborts.
 */
export type MarkdownOf = (html: string, signal: AbortSignal) => Promise<string | null>;

/** What converts HTML to Markdown, and until when. */
export interface TextMaking {
  readonly markdownOf: MarkdownOf;
  readonly signal: AbortSignal;
}

/** `type` is the value of Content-Type; empty when the answer has none. Rejects when the signal aborts. */
export async function pageText(
  bytes: Uint8Array,
  type: string,
  { markdownOf, signal }: TextMaking,
): Promise<PageText> {
  const kind = mediaType(type);
  if (!isText(kind) || (kind === '' && bytes.includes(0)))
    return { status: 'failed', why: `is ${kind || 'binary data'}, and only text can be read` };
  const text = decoded(bytes, type);
  if (kind === 'text/html' || kind === 'application/xhtml+xml') {
    const markdown = await markdownOf(text, signal);
    if (markdown === null)
      return { status: 'failed', why: 'is a page that takes too long, or too much memory, to be made text' };
    return { status: 'ok', text: visible(markdown) };
  }
  return { status: 'ok', text: visible(text) };
}

/** The media type in lower case, without its parameters. */
export function mediaType(type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase();
}

function isText(kind: string): boolean {
  return (
    kind === '' ||
    kind.startsWith('text/') ||
    /^application\/(?:json|xml|xhtml\+xml|javascript|yaml|x-yaml|toml|sql|x-sh|x-ndjson|rtf)$/.test(kind) ||
    /\+(?:json|xml|yaml)$/.test(kind)
  );
}

/** Uses the charset of the header, else of the page, else UTF-8. */
function decoded(bytes: Uint8Array, type: string): string {
  const head = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1');
  const named =
    /charset\s*=\s*"?([\w:-]+)/i.exec(type) ?? /<meta[^>]{1,200}charset\s*=\s*["']?([\w:-]+)/i.exec(head);
  try {
    return new TextDecoder(named?.[1] ?? 'utf-8').decode(bytes);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder().decode(bytes);
    throw error;
  }
}

/** Removes characters that hide text from people who check what the model has read. */
function visible(text: string): string {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => withinLine(line).trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
