/** Parses text from others that may not be JSON. */

/** Deeper values are not read from any text of others: code that walks a value recurses once per level. */
export const MAX_LEVELS = 500;

/** The value of the text; undefined, which JSON cannot express, if it is not JSON, or nested deeper than `MAX_LEVELS`. */
export function jsonOrUndefined(text: string): unknown {
  if (depthOf(text) > MAX_LEVELS) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether no list or object in the value is nested deeper than so many levels: code that walks a value recurses once per level. */
export function isNestedWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isNestedWithin(part, levels - 1));
}

/** The maximum number of open brackets, not counting those inside strings. */
export function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const char = json[at];
    if (inString) {
      if (char === '\\') at++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') deepest = Math.max(deepest, ++depth);
    else if (char === '}' || char === ']') depth--;
  }
  return deepest;
}
