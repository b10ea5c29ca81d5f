/** Why a connection failed, which clients put into the causes of their error. */

/**
 * The message of the innermost cause that has one: "fetch failed" alone is no help, and neither is an empty message, as an
 * error has that stands for several.
 */
export function innermostMessage(error: Error): string {
  const [first]: unknown[] = error instanceof AggregateError ? error.errors : [];
  const inner = error.cause instanceof Error ? error.cause : first;
  return (inner instanceof Error ? innermostMessage(inner) : '') || ownMessage(error);
}

/** The message of an error of OpenSSL is meant for its developers; the reason in it says "wrong version number". */
function ownMessage(error: Error): string {
  const isOfOpenSsl = 'library' in error && 'reason' in error && typeof error.reason === 'string';
  return isOfOpenSsl ? `TLS failed: ${error.reason}` : error.message;
}

/** The title of an HTML page; any other text is returned as it is. */
export function withoutHtml(text: string): string {
  const start = text.slice(0, MAX_SEARCHED);
  if (!/^(?:\d{3}\s+)?<(?:!doctype\s+html|html|head|body)[\s>]/i.test(start.trimStart())) return text;
  const title = /<(title|h1)(?:\s[^<>]*)?>([^<]*)/i.exec(start)?.[2]?.replace(/\s+/g, ' ').trim();
  return title ? `an HTML page titled "${title}"` : 'an HTML page';
}

/** Titles stand at the beginning of a page. */
const MAX_SEARCHED = 4_000;
