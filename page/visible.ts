/** Shows characters that are invisible, reorder the text around them, or are bytes that are not UTF-8. */

/**
 * Control characters, direction marks, zero-width spaces, fillers, tags, variation selectors that can carry hidden
 * text, and lone surrogates. Tabs and line feeds are kept.
 */
const UNSEEN =
  /\u034f|[\u180b-\u180f]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\ud800-\udfff]/u;
const ALL_UNSEEN = new RegExp(UNSEEN.source, 'gu');

const NAMES: Readonly<Record<number, string>> = { 0: 'NUL', 13: 'CR', 27: 'ESC', 127: 'DEL', 65279: 'BOM' };

/** The text in pieces: visible text as it is, and marks in place of invisible characters. */
export function visible(text: string): (string | HTMLElement)[] {
  if (!UNSEEN.test(text)) return [text];
  const pieces: (string | HTMLElement)[] = [];
  let at = 0;
  for (const { 0: found, index } of text.matchAll(ALL_UNSEEN)) {
    if (index > at) pieces.push(text.slice(at, index));
    pieces.push(mark(found.codePointAt(0) ?? 0));
    at = index + found.length;
  }
  if (at < text.length) pieces.push(text.slice(at));
  return pieces;
}

/** The same as plain text, for attributes and accessible names. */
export function visibleText(text: string): string {
  return text.replace(ALL_UNSEEN, (found) => nameOf(found.codePointAt(0) ?? 0));
}

function mark(code: number): HTMLElement {
  const element = document.createElement('span');
  element.className = 'unseen';
  element.textContent = nameOf(code);
  element.title = `a character that cannot be seen: U+${hex(code)}`;
  return element;
}

/** U+DC80 to U+DCFF stand for the bytes of a name or a line that are not UTF-8. */
function nameOf(code: number): string {
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
  return NAMES[code] ?? `U+${hex(code)}`;
}

function hex(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, '0');
}

/** Decodes UTF-8 from a string with one character per byte. Invalid bytes become lone surrogates. */
export function decoded(latin1: string): string {
  if (!/[\u0080-\u00ff]/.test(latin1)) return latin1;
  const bytes = Uint8Array.from(latin1, (character) => character.charCodeAt(0));
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return text.includes('\ufffd') ? withForeign(bytes) : text;
}

function withForeign(bytes: Uint8Array): string {
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0;
    const length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    const piece = characterOf(strict, bytes.subarray(at, at + length));
    text += piece ?? String.fromCharCode(0xdc00 + lead);
    at += piece === null ? 1 : length;
  }
  return text;
}

function characterOf(strict: TextDecoder, bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
