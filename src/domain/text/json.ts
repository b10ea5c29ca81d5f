/** Parses text from others that may not be JSON. */

/** The value of the text; undefined, which JSON cannot express, if it is not JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
