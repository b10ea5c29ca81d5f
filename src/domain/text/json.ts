/** JSON that somebody else has written, and that may be none. */

/** The value of the text; undefined, which no JSON stands for, when it is not JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
