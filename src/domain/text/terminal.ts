/** Makes text from outside safe to print on a terminal and in a CI log. */

import { type Redact, redactedJson } from '../secrets/redact.ts';
import { shortened } from './shorten.ts';

/** Everything that can move a cursor, start a line, change the reading direction or hide text; tabs are kept. */
const CONTROL =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** What CI runners interpret anywhere in a line: `##[error]`, `##vso[task.setvariable]`, `##teamcity[…]`. */
const COMMAND_MARK = /##(?=[\w.-]*\[)/g;

/**
 * For a part of a line: control characters become spaces, and what a CI runner interprets anywhere in a line is neutralised.
 */
export function withinLine(text: string): string {
  return text.replace(CONTROL, ' ').replace(COMMAND_MARK, '# #');
}

/** For one whole line of text: what a CI runner interprets at the start of a line is neutralised too. */
export function oneLine(text: string, maxLength = 200): string {
  return shortened(withinLine(text).replace(/^(\s*)::/, '$1: :'), maxLength);
}

/** Several lines, each preceded by `prefix`, so that none of them starts a log line. */
export function prefixed(text: string, prefix: string): string {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => `${prefix}${oneLine(line, 2_000)}`)
    .join('\n');
}

/** The same JSON, with some characters escaped: a log also contains documents for machines. */
export function inertJson(json: string): string {
  return json
    .replace(CONTROL_IN_JSON, (found) =>
      Array.from({ length: found.length }, (_, at) => escaped(found, at)).join(''),
    )
    .replace(COMMAND_MARK, '\\u0023#');
}

/** A document for machines and people: JSON that is indented, without secrets, and inert in a terminal and a log. */
export function jsonDocument(value: object, redact: Redact): string {
  return `${inertJson(redactedJson(value, redact, 2))}\n`;
}

/** The same in one line. */
export function jsonLine(value: object, redact: Redact): string {
  return `${inertJson(redactedJson(value, redact))}\n`;
}

/** Those of the characters above that JSON does not escape. */
const CONTROL_IN_JSON =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

function escaped(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
}

/** A line for each row, with its cells below each other; `widest` is the longest text of each column. */
export function columns(
  rows: readonly (readonly string[])[],
  widest: readonly number[],
  redact: Redact,
): string {
  const cells = rows.map((row) => row.map((cell, at) => oneLine(redact(cell), widest[at] ?? 0)));
  const widths = widest.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const lines = cells.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

/** The line, which a terminal would break in the middle of a word, in pieces of at most `columns` characters, broken at spaces; all but the first begin with `indent` spaces. */
export function wrapped(line: string, columns: number, indent: number): string {
  const pieces: string[] = [];
  const margin = ' '.repeat(indent);
  for (let rest = line; ; ) {
    if (rest.length <= columns) return [...pieces, rest].join('\n');
    const last = rest.lastIndexOf(' ', columns);
    const end = last > indent ? last : rest.indexOf(' ', columns);
    if (end < 0) return [...pieces, rest].join('\n');
    pieces.push(rest.slice(0, end));
    rest = `${margin}${rest.slice(end + 1)}`;
  }
}
