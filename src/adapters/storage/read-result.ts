/** Reads the result of an earlier run. Code that only writes one does not need its schema. */

import { RunResult } from '../../domain/run/result.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import type { RunDirectory } from './run-directory.ts';
import { jsonOf, MAX_RESULT_BYTES } from './run-file.ts';

/** The stored result; null if there is none that can be parsed. */
export function readResult(directory: Pick<RunDirectory, 'result'>): RunResult | null {
  const read = readRegularFile(directory.result, MAX_RESULT_BYTES);
  return read.status === 'ok' ? (RunResult.safeParse(jsonOf(read.bytes)).data ?? null) : null;
}
