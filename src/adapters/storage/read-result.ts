/** Reads the result of an earlier run, and its patch. Code that only writes one does not need its schema. */

import * as z from 'zod';
import type { ChangedFile } from '../../domain/changes/change.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { RunResult } from '../../domain/run/result.ts';
import { parseJson } from '../../domain/text/json.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { sentence } from '../../domain/text/words.ts';
import { sha256Of } from '../../files/hash.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import type { RunDirectory } from './run-directory.ts';

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

/** The stored result; null if there is none that can be parsed. */
export function readResult(directory: Pick<RunDirectory, 'result'>): RunResult | null {
  const read = readRegularFile(directory.result, MAX_RESULT_BYTES);
  return read.status === 'ok' ? (RunResult.safeParse(jsonOf(read.bytes)).data ?? null) : null;
}

/** What lists and sums need of a result, which may be from another version. */
const Glimpse = z.object({
  ...RunResult.pick({
    ...{ runId: true, status: true, exitCode: true, replayOf: true, root: true },
    ...{ provider: true, model: true, tokens: true, costUsd: true, estimated: true, models: true },
  }).shape,
  outcome: z.string().nullable(),
  plan: z.object({ title: z.string() }).nullable(),
});

/** That of the run with this id. The message of a failure is for people. */
export function glimpseOf(
  { result }: Pick<RunDirectory, 'result'>,
  runId: string,
): (z.infer<typeof Glimpse> & { isRead: true }) | { isRead: false; why: string } {
  const read = readRegularFile(result, MAX_RESULT_BYTES);
  if (read.status === 'failed') return { isRead: false, why: `result.json ${read.why}` };
  const { data } = Glimpse.safeParse(jsonOf(read.bytes));
  if (data === undefined) return { isRead: false, why: 'result.json is not the result of a run' };
  if (data.runId !== runId) return { isRead: false, why: 'result.json is that of another run' };
  return { ...data, isRead: true };
}

/** The patch of a finished run, checked against its result, or why it cannot be used. */
export type PatchRead = { status: 'ok'; patch: Uint8Array; files: ChangedFile[] } | Failed;

/** Fails if there is no patch, or if it is not the one that the run wrote. */
export function readPatch({ path, result: resultPath, patch }: RunDirectory): PatchRead {
  const result = readResult({ result: resultPath });
  if (result === null) return failed(`${resultPath} is missing or not the result of a run of this version.`);
  if (result.status === 'running')
    return failed(
      `The run in ${path} has not ended. Unless it is still running, its process died; patchsmith resume continues it.`,
    );
  if (result.patch === null)
    return failed(`The run in ${path} ended without a patch: ${oneLine(result.reason, 2_000)}`);
  const read = readRegularFile(patch, MAX_PATCH_BYTES);
  if (read.status === 'failed')
    return failed(read.missing ? `The run in ${path} has made no patch.` : sentence(`${patch} ${read.why}`));
  if (sha256Of(read.bytes) !== result.patch.sha256)
    return failed(`${patch} is not the patch that the run wrote.`);
  return { status: 'ok', patch: read.bytes, files: result.changedFiles };
}
