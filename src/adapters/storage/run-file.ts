/** Size limits for the files of a run directory, which anyone may have created. */

import { parseJson } from '../../domain/text/json.ts';

/** A result contains excerpts and lists; its largest lists are truncated. */
export const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/** Larger patches are neither published nor attributed. */
export const MAX_PATCH_BYTES = 256 * 1024 * 1024;

/** Null if it is not JSON, or has more values than any result. */
export function jsonOf(bytes: Buffer): unknown {
  const parsed = parseJson(bytes.toString('utf8'), { values: MAX_RESULT_VALUES });
  return parsed.status === 'ok' ? parsed.value : null;
}

const MAX_RESULT_VALUES = 4_000_000;
