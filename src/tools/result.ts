/** How tools word their output: results, and calls written out so that the model can repeat them. */

import { whole } from '../domain/conversation/excerpt.ts';
import type { FailureReason } from '../domain/conversation/tool.ts';
import type { ToolResult } from '../ports.ts';

/** A successful result that consists of a text. */
export function said(text: string): Extract<ToolResult, { status: 'ok' }> {
  return { status: 'ok', output: whole(text) };
}

/** A failed call, with a message that tells the model what to do. */
export function failedCall(
  reason: FailureReason,
  message: string,
): Extract<ToolResult, { status: 'failed' }> {
  return { status: 'failed', reason, output: whole(message) };
}

/** A call as the model would write it: `read_file {"path":"a.ts","offset":3}`. */
export function literalCall(tool: string, input: Readonly<Record<string, unknown>>): string {
  return `${tool} ${JSON.stringify(input)}`;
}

/** Control characters, quotes, outer spaces, and lone surrogates, which represent bytes that are not UTF-8. */
const ODD = /[\p{Cc}\p{Surrogate}"]|^\s|\s$/u;

/**
 * An ordinary name unchanged, any other as a JSON string: on one line, without characters that cannot be sent, and the same
 * path again when the model repeats it in its own JSON.
 */
export function printablePath(path: string): string {
  return ODD.test(path) ? JSON.stringify(path) : path;
}

/** What other tools call the path of a file. */
export const PATH_ALIASES = { file_path: 'path', filepath: 'path', filename: 'path' };
