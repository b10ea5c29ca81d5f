/** Bounds for the files of a run directory, which anybody may have made. */

import { parseJson } from '../../domain/text/bounded-json.ts';

/** A result holds excerpts and lists; its largest lists are cut. */
export const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/** A patch above this size is neither published nor attributed. */
export const MAX_PATCH_BYTES = 256 * 1024 * 1024;

/** Null for what is no JSON, or more of it than a result holds. */
export function jsonOf(bytes: Buffer): unknown {
  const parsed = parseJson(bytes.toString('utf8'), { values: MAX_RESULT_VALUES });
  return parsed.status === 'ok' ? parsed.value : null;
}

const MAX_RESULT_VALUES = 4_000_000;
