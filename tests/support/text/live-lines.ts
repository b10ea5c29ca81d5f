/** Lines that a terminal, a CI service or a reader of text obeys. */

const LIVE = [
  /^\s*::/,
  /##[\w.-]*\[/,
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/,
  /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u,
];

/** Those lines of a text that are obeyed. */
export function liveLines(text: string): string[] {
  return text.split('\n').filter((line) => LIVE.some((pattern) => pattern.test(line)));
}
