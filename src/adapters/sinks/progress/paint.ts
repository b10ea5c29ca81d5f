/** The few colours of the lines for people; they never carry meaning on their own. */

/** Each returns the text in its colour, or unchanged. */
export interface Paint {
  bad(text: string): string;
  good(text: string): string;
  careful(text: string): string;
  dim(text: string): string;
}

/** The terminal's own red, green and yellow, which fit its background. */
export function paintFor(hasColors: boolean): Paint {
  const between = (from: number, to: number) => (text: string) =>
    hasColors ? text.replace(/[^\n]+/g, (line) => `\u001b[${from}m${line}\u001b[${to}m`) : text;
  return { bad: between(31, 39), good: between(32, 39), careful: between(33, 39), dim: between(2, 22) };
}
