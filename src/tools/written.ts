/** Shared by the tools that write files. */

import * as z from 'zod';
import { parseRepoPath } from '../domain/changes/path.ts';
import type { FileWrite } from '../ports/workspace.ts';
import type { ToolResult } from '../ports.ts';
import { said } from './result.ts';

/** Maximum bytes of a file that one call writes: no tool could read a larger one, so it is left to commands. */
export const MAX_WRITE_BYTES = 8 * 1024 * 1024;

/** Text that UTF-8 can represent: half a surrogate pair would silently become another character. */
export const WellFormedText = z.string().refine((text) => !/\p{Surrogate}/u.test(text), {
  error: 'holds half a surrogate pair, which is not valid Unicode',
});

/** The path as it will be recorded; null when it is not allowed. */
export function targetOf(input: { readonly path: string }): string | null {
  const parsed = parseRepoPath(input.path);
  return parsed.ok ? parsed.path : null;
}

/** Reports a write, and whether it can be in the patch at all. */
export function written(report: string, write: Extract<FileWrite, { status: 'ok' }>): ToolResult {
  return said(write.ignored ? `${report} Git ignores this path, so it will not be in the patch.` : report);
}
