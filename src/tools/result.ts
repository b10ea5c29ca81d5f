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

/** What other tools call the path of a file. */
export const PATH_ALIASES = { file_path: 'path', filepath: 'path', filename: 'path' };
