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

/** Maximum nesting; code that later walks the value recurses once per level. */
const MAX_DEPTH = 500;

/** The limit for all texts together, so that many small ones cannot get around the limit for one. */
export interface JsonBudget {
  /** Number of elements and members left: each takes about 50 bytes of memory, and 2 bytes of text. */
  values: number;
}

/** The value of a JSON text, or why it was not parsed. */
export type ParsedJson = { status: 'ok'; value: unknown } | { status: 'malformed' } | { status: 'excessive' };

/** Deducts what it reads from `budget`. Never throws. */
export function parseJson(text: string, budget: JsonBudget): ParsedJson {
  if (!isWithin(text, budget)) return { status: 'excessive' };
  const value = jsonOrUndefined(text);
  return value === undefined ? { status: 'malformed' } : { status: 'ok', value };
}

/** Counts brackets and commas outside strings, in any text. */
function isWithin(text: string, budget: JsonBudget): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at);
    else if (character === OPEN_LIST || character === OPEN_OBJECT) depth += 1;
    else if (character === CLOSE_LIST || character === CLOSE_OBJECT) depth -= 1;
    else if (character !== COMMA) continue;
    budget.values -= 1;
    if (depth > MAX_DEPTH || budget.values < 0) return false;
  }
  return true;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BACKSLASH = 0x5c;

/** The position of the closing quote of the string that begins at `from`; the end of the text if there is none. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
