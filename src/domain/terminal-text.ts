/** Makes text from outside safe to print on a terminal and in a CI log. */

/** Everything that can move a cursor, start a line or hide text; tabs are kept. */
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A part of a line: control characters become spaces, and what a CI runner obeys anywhere in a line loses its meaning. */
export function withinLine(text: string): string {
  return text.replace(CONTROL, ' ').replaceAll('##[', '# #[');
}

/** One whole line of text: also what a CI runner obeys at the start of a line loses its meaning. */
export function oneLine(text: string, maxLength = 200): string {
  const plain = withinLine(text).replace(/^(\s*)::/, '$1: :');
  return plain.length > maxLength ? `${plain.slice(0, maxLength - 1)}…` : plain;
}

/**
 * For text that arrives in pieces: how many of its last characters can only be made safe together with what follows,
 * the half of a line ending or of the mark of a workflow command.
 */
export function openMark(text: string): number {
  return /(?:\r|##?)?$/.exec(text)?.[0].length ?? 0;
}

/** Many lines, each behind `prefix`, so that none of them starts a log line. */
export function prefixed(text: string, prefix: string): string {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => `${prefix}${oneLine(line, 2_000)}`)
    .join('\n');
}
