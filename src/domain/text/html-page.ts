/** Error pages of proxies and gateways, which answer in HTML where JSON was expected. */

/** The title of an HTML page; any other text is returned as it is. */
export function withoutHtml(text: string): string {
  const start = text.slice(0, MAX_SEARCHED);
  if (!/^(?:\d{3}\s+)?<(?:!doctype\s+html|html|head|body)[\s>]/i.test(start.trimStart())) return text;
  const title = /<(title|h1)(?:\s[^<>]*)?>([^<]*)/i.exec(start)?.[2]?.replace(/\s+/g, ' ').trim();
  return title ? `an HTML page titled "${title}"` : 'an HTML page';
}

/** Titles stand at the beginning of a page. */
const MAX_SEARCHED = 4_000;
