/** Reads what a model wrote as the input of a tool. */

import { depthOf } from '../../../domain/text/json.ts';

/** Deeper than any tool's input; code that walks such a value recursively would exhaust the stack. */
export const MAX_DEPTH = 100;

/** The JSON object that the model wrote, or why it is not one. An empty text is a call without arguments. */
export function parseInput(json: string): { ok: true; value: object } | { ok: false; why: string } {
  if (json.trim() === '') return { ok: true, value: {} };
  if (depthOf(json) > MAX_DEPTH)
    return { ok: false, why: `The input is nested more than ${MAX_DEPTH} levels deep.` };
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    if (error instanceof SyntaxError)
      return { ok: false, why: `The input is not valid JSON: ${error.message}` };
    throw error;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ok: true, value };
  const found = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  return { ok: false, why: `The input must be one JSON object, but it is ${found}.` };
}
