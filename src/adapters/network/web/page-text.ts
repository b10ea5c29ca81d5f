/** What a model reads from a web answer: HTML as Markdown, JSON pretty-printed, other text unchanged. */

import { jsonOrUndefined } from '../../../domain/text/json.ts';
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
  if (kind === 'application/json' || kind.endsWith('+json')) {
    const value = indentationOf(text) > MAX_INDENTATION ? undefined : jsonOrUndefined(text);
    return { status: 'ok', text: visible(value === undefined ? text : JSON.stringify(value, null, 2)) };
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

/** Maximum characters that pretty-printing JSON may add. */
const MAX_INDENTATION = 4 * 1024 * 1024;

/** Minimum characters that pretty-printing adds: it makes deeply nested lists many times larger. */
function indentationOf(json: string): number {
  let depth = 0;
  let added = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at += 1) {
    const mark = json.charAt(at);
    if (mark === '"') isInString = !isInString;
    else if (isInString && mark === '\\') at += 1;
    if (isInString) continue;
    if (mark === '{' || mark === '[') depth += 1;
    else if (mark === '}' || mark === ']') depth -= 1;
    else if (mark !== ',') continue;
    added += 1 + 2 * depth;
    if (added > MAX_INDENTATION) break;
  }
  return added;
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
