/** Parses text from others that may not be JSON. */

/** Deeper values are not read from any text of others: code that walks a value recurses once per level. */
export const MAX_LEVELS = 500;

/** The value of the text; undefined, which JSON cannot express, if it is not JSON, or nested deeper than `MAX_LEVELS`. */
export function jsonOrUndefined(text: string): unknown {
  const parsed = parseJson(text, { values: Number.POSITIVE_INFINITY });
  return parsed.status === 'ok' ? parsed.value : undefined;
}

/** Whether no list or object in the value is nested deeper than so many levels: code that walks a value recurses once per level. */
export function isNestedWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isNestedWithin(part, levels - 1));
}

/** The limit for all texts together, so that many small ones cannot get around the limit for one. */
export interface JsonBudget {
  /** Number of elements and members left: each takes about 50 bytes of memory, and 2 bytes of text. */
  values: number;
}

/** The value of a JSON text, or why it was not parsed. */
export type ParsedJson = { status: 'ok'; value: unknown } | { status: 'malformed' } | { status: 'excessive' };

/** Deducts what it reads from `budget`. Never throws. */
export function parseJson(text: string, budget: JsonBudget): ParsedJson {
  const { depth, values } = measured(text);
  budget.values -= values;
  if (depth > MAX_LEVELS || budget.values < 0) return { status: 'excessive' };
  try {
    return { status: 'ok', value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return { status: 'malformed' };
    throw error;
  }
}

/** The maximum number of open brackets, not counting those inside strings. */
export function depthOf(json: string): number {
  return measured(json).depth;
}

/** How deeply brackets are nested in any text, and the number of brackets, commas and strings, outside of strings. */
function measured(text: string): { depth: number; values: number } {
  let [open, depth, values] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at);
    else if (character === OPEN_LIST || character === OPEN_OBJECT) open += 1;
    else if (character === CLOSE_LIST || character === CLOSE_OBJECT) open -= 1;
    else if (character !== COMMA) continue;
    values += 1;
    depth = Math.max(depth, open);
  }
  return { depth, values };
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
