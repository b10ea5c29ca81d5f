/** Shared by the tools that write files. */

import * as z from 'zod';
import { formatNumber } from '../domain/text/words.ts';
import type { FileWrite } from '../ports/workspace.ts';
import type { ToolResult } from '../ports.ts';
import { failedCall, said } from './result.ts';

/** Maximum bytes of a file that one call writes: no tool could read a larger one, so it is left to commands. */
const MAX_WRITE_BYTES = 8 * 1024 * 1024;

/** Text that UTF-8 can represent: half a surrogate pair would silently become another character. */
export const WellFormedText = z.string().refine((text) => !/\p{Surrogate}/u.test(text), {
  error: 'holds half a surrogate pair, which is not valid Unicode',
});

/** Refuses more than one call may write; `what` is the subject of the sentence and its verb. */
export function tooLarge(what: string, bytes: number): ToolResult | null {
  if (bytes <= MAX_WRITE_BYTES) return null;
  const most = formatNumber(MAX_WRITE_BYTES);
  const message = `Not written: ${what} ${formatNumber(bytes)} bytes; one call writes at most ${most}.`;
  return failedCall('too_large', message);
}

/** Reports a write, and whether it can be in the patch at all. */
export function written(report: string, write: Extract<FileWrite, { status: 'ok' }>): ToolResult {
  return said(write.ignored ? `${report} Git ignores this path, so it will not be in the patch.` : report);
}
