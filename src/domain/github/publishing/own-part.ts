/** The part of a pull request's text that is ours, between two markers; the rest, and an edited title, are people's. */

/** GitHub's limit for a body, in characters. */
const MAX_BODY = 65_536;

/** A title and a body in Markdown. */
export interface TitledText {
  readonly title: string;
  readonly body: string;
}

/**
 * The text with its beginning marked; `body` ends with `marker`. The mark holds a digest of the title, by which it is known
 * later whether people have changed it. `sha256` returns hex.
 */
export function markedPart(
  { title, body }: TitledText,
  marker: string,
  sha256: (text: string) => string,
): TitledText {
  return { title, body: `${beginOf(marker)}${digest(title, sha256)}${NOTE}\n\n${body}` };
}

/**
 * What a pull request should say: our new part in the place of the old one, the title ours unless people have changed it, and
 * everything else as it is. `gone`: there is no such part any more. `full`: both together are longer than GitHub permits.
 */
export function updatedText(
  there: TitledText,
  part: TitledText,
  { marker, sha256 }: { marker: string; sha256: (text: string) => string },
): { status: 'ok'; text: TitledText } | { status: 'gone' | 'full' } {
  // GitHub returns texts with the line endings of web forms.
  const body = there.body.replaceAll('\r\n', '\n');
  const begin = body.indexOf(beginOf(marker));
  const end = begin === -1 ? -1 : body.indexOf(marker, begin);
  if (end === -1) return { status: 'gone' };
  const known = body.slice(begin + beginOf(marker).length).slice(0, DIGEST);
  const isTitleKept = digest(there.title, sha256) !== known && there.title.trim() !== part.title.trim();
  const text = {
    title: isTitleKept ? there.title : part.title,
    body: `${body.slice(0, begin)}${part.body}${body.slice(end + marker.length)}`,
  };
  return text.body.length > MAX_BODY ? { status: 'full' } : { status: 'ok', text };
}

/** `<!-- patchsmith:1a2b3c4d begin, title ` */
function beginOf(marker: string): string {
  return `${marker.replace(/ -->$/, '')} begin, title `;
}

const NOTE = ': a later run replaces what stands between this line and the last one of patchsmith -->';

/** Hex digits. */
const DIGEST = 8;

function digest(title: string, sha256: (text: string) => string): string {
  return sha256(title.trim()).slice(0, DIGEST);
}
