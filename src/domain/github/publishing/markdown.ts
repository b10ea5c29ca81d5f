/**
 * Renders text from outside as GitHub Markdown in which it is nothing but text: it produces no link, image, HTML, heading or
 * formula, mentions nobody, neither refers to nor closes an issue, and skips no check. This also holds for the Markdown
 * source, which a squash merge turns into a commit message.
 *
 * GitHub searches for mentions and references in the rendered text, where a backslash is gone; a zero-width space after the
 * first character is what breaks them.
 */

import { firstUnits, lastUnits, shortened } from '../../text/shorten.ts';
import { withinLine } from '../../text/terminal.ts';
import { formatNumber } from '../../text/words.ts';
import { SKIP_DIRECTIVE } from './plain-text.ts';

/** Running text on one line, at any position in it. Markdown characters are shown literally. May be empty. */
export function escaped(text: string, maxLength = 1_000): string {
  return atLineStart(withSigns(oneVisibleLine(text, maxLength).trim()));
}

/** A code span. */
export function code(text: string, maxLength = 300): string {
  const line = inert(oneVisibleLine(text, maxLength)) || ' ';
  const fence = fenceAround(line, 1);
  // Markdown strips one space on each side.
  const pad = /^[` ]|[` ]$/.test(line) && line.trim() !== '' ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** A file name as a code span: invisible characters are written as in JSON, so that no two names look the same. */
export function pathCode(path: string): string {
  return code(printable(path));
}

/** Running text in a table cell. */
export function textCell(text: string, maxLength = 300): string {
  return escaped(text, maxLength).replaceAll('\\|', '&#124;');
}

/** Code in a table cell, where a code span could not distinguish `|` from `\|`. */
export function codeCell(text: string): string {
  return text.includes('|') ? `<code>${textCell(text)}</code>` : code(text);
}

/** A path as a cell of a Markdown table. */
export function pathCell(path: string): string {
  return codeCell(printable(path));
}

/**
 * A block of code of at most `maxLength` characters. If the text is too long, both ends are shown, and how much is missing
 * between them. Quote it where others read the source.
 */
export function fenced(text: string, maxLength: number): string {
  const lines = inert(visibleLines(text.trimEnd()).join('\n'));
  return fitting(lines, maxLength, (part) => {
    const fence = fenceAround(part);
    return `${fence}text\n${part}\n${fence}`;
  });
}

/**
 * A change that people can apply to the lines of a review comment, exactly as it is; null if it has characters that they would
 * not see. An empty one removes the lines.
 */
export function suggestionBlock(text: string): string | null {
  const lines = text.replaceAll('\r\n', '\n').replace(/\n$/, '');
  if (visibleLines(lines).join('\n') !== lines) return null;
  const fence = fenceAround(lines);
  return `${fence}suggestion\n${lines}${lines === '' ? '' : '\n'}${fence}`;
}

/**
 * Text that has to stay as it is to the byte, as a block of code: in base64 where some of it would not be seen, or changed. For
 * comments only, since code has no special meaning where Markdown becomes a commit message.
 */
export function verbatim(bytes: Uint8Array): { block: string; isEncoded: boolean } {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  // Bytes that are no text come out as U+FFFD.
  const isSeen = visibleLines(text).join('\n') === text && !text.includes('\ufffd');
  const binary = () => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  const shown = isSeen ? text : btoa(binary()).replace(/.{76}/g, '$&\n');
  const fence = fenceAround(shown);
  return {
    block: `${fence}${isSeen ? 'diff' : 'text'}\n${shown.replace(/\n$/, '')}\n${fence}`,
    isEncoded: !isSeen,
  };
}

/** The Markdown as a quotation: bots that read the source find none of its lines at the start of a line. */
export function quoted(markdown: string): string {
  return markdown
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** For the inside of a visible line: characters that could be part of markup, a mention or an address lose that meaning. */
export function withSigns(line: string): string {
  return line.replace(SIGN, (sign) => SIGNS[sign] ?? (sign.length > 1 ? broken(sign) : `\\${sign}`));
}

/**
 * For the start of a line: it cannot begin a heading, list, quotation, underline or table row, nor a command for bots that
 * look for `/approve` in the source.
 */
export function atLineStart(inline: string): string {
  return inline.replace(/^(\d{1,9})(?=[.)])/, '$1\\').replace(/^[#+\-=:>/]/, '\\$&');
}

/** An underscore between letters has no meaning in Markdown. */
const SIGN =
  /[$\\`*[\]<|~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|&(?=#?[\p{L}\p{N}]{1,64};)|@(?=\S)|#(?=\p{Nd})|(?<![a-z0-9_])GH-(?=\p{Nd})|:\/\/|www\./giu;

const BREAK = '&#8203;';

const SIGNS: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '&': '&amp;',
  '@': `@${BREAK}`,
  '#': `#${BREAK}`,
  // A backslash does not keep GitHub from reading a formula; this is what its documentation recommends.
  $: '<span>$</span>',
};

/** `GH-`, `://`, `www.` */
function broken(sign: string): string {
  return sign.startsWith(':') ? `:${BREAK}//` : `${sign.slice(0, -1)}${BREAK}${sign.slice(-1)}`;
}

const BREAK_IN_CODE = '\u200b';

/** Code is displayed literally, but the source may become a commit message, where code has no special meaning. */
function inert(text: string): string {
  return (
    text
      .replace(/#(?=\p{Nd})/gu, `#${BREAK_IN_CODE}`)
      .replace(/(?<![a-z0-9_])GH(?=-\p{Nd})/giu, `$&${BREAK_IN_CODE}`)
      .replace(/:\/\/(?=\S{0,300}\/(?:issues|pull|discussions)\/)/gi, `:${BREAK_IN_CODE}//`)
      .replace(SKIP_DIRECTIVE, `[${BREAK_IN_CODE}$1]`)
      // Hidden markers in our pages identify their plan, so text must not contain one.
      .replaceAll('<!--', `<!${BREAK_IN_CODE}--`)
  );
}

/** Lines without characters that hide text or change its direction. */
export function visibleLines(text: string): string[] {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => withinLine(line.replace(BLANK, '').replace(/\p{Cs}/gu, '\ufffd')));
}

/** Text far beyond the cut is not processed. */
function oneVisibleLine(text: string, maxLength: number): string {
  const line = visibleLines(text.slice(0, 4 * maxLength))
    .join(' ')
    .replaceAll('\t', ' ');
  return shortened(line, maxLength);
}

/** Invisible characters: they can carry data, change the reading direction, or hide what is between them. */
const UNSEEN = /(?!\ufe0e|\ufe0f)\p{DI}|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const BLANK = /(?!\ufe0e|\ufe0f)\p{DI}/gu;
const ODD_NAME = new RegExp(`${UNSEEN.source}|[\\p{Cs}"]|^\\s|\\s$|^$`, 'u');

function printable(path: string): string {
  return ODD_NAME.test(path) ? JSON.stringify(path).replace(UNSEEN, inJson) : path;
}

function inJson(found: string): string {
  return Array.from(
    { length: found.length },
    (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** More backticks than stand together in the text. */
function fenceAround(text: string, least = 3): string {
  return '`'.repeat(Math.max(least, longestRun(text) + 1));
}

function longestRun(text: string): number {
  return [...text.matchAll(/`+/g)].reduce((longest, [run]) => Math.max(longest, run.length), 0);
}

/** Shows as much of both ends as fits when it is rendered. */
function fitting(text: string, maxLength: number, render: (part: string) => string): string {
  const all = render(text);
  if (all.length <= maxLength) return all;
  for (let room = Math.max(0, maxLength - 100); ; room = Math.floor(room / 2)) {
    const head = firstUnits(text, Math.ceil(room / 2));
    const tail = lastUnits(text, Math.floor(room / 2));
    const left = text.length - head.length - tail.length;
    const shown = render(`${head}\n… ${formatNumber(left)} characters left out …\n${tail}`);
    if (shown.length <= maxLength || room === 0) return shown;
  }
}
