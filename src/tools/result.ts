/** How tools put what they say: results, and calls written out so that the model can repeat them. */

import { whole } from '../domain/conversation/excerpt.ts';
import type { FailureReason } from '../domain/conversation/tool.ts';
import type { ToolResult } from '../ports.ts';

/** A result that is a text. */
export function said(text: string): Extract<ToolResult, { status: 'ok' }> {
  return { status: 'ok', output: whole(text) };
}

/** A call that failed, with a message that tells the model what to do. */
export function failedCall(
  reason: FailureReason,
  message: string,
): Extract<ToolResult, { status: 'failed' }> {
  return { status: 'failed', reason, output: whole(message) };
}

/** A call in the words that the model would use: `read_file {"path":"a.ts","offset":3}`. */
export function literalCall(tool: string, input: Readonly<Record<string, unknown>>): string {
  return `${tool} ${JSON.stringify(input)}`;
}

/** One word of a POSIX shell, whatever it holds. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
