/** Reads the patch of a finished run, together with its files as listed in the result. */

import { createHash } from 'node:crypto';
import * as z from 'zod';
import { ChangedFile } from '../../domain/changes/changed-file.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { sentence } from '../../domain/text/sentence.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { type FileReadFailure, readRegularFile } from '../../files/regular-file.ts';
import type { RunDirectory } from './run-directory.ts';
import { jsonOf, MAX_PATCH_BYTES, MAX_RESULT_BYTES } from './run-file.ts';

/** Maximum characters quoted from a run's own reason. */
const MAX_REASON = 2_000;

/** The patch of a finished run, checked against its result, or why it cannot be used. */
export type PatchRead = { status: 'ok'; patch: Uint8Array; files: ChangedFile[] } | Failed;

const Result = z.object({
  status: z.enum(['running', 'finished']),
  reason: z.string(),
  patch: z.object({ sha256: z.string() }).nullable(),
  changedFiles: z.array(ChangedFile),
});

/** For a result that still says `running` after its dead run was ended, because it could not be rewritten. */
const UNENDED =
  'has not ended. Unless it is still running, its process died; patchsmith resume continues it.';

/** Fails if there is no patch, or if it is not the one that the run wrote. */
export function readPatch(directory: RunDirectory): PatchRead {
  const text = readRegularFile(directory.result, MAX_RESULT_BYTES);
  if (text.status === 'failed') return unreadable(directory, directory.result, text);
  const result = Result.safeParse(jsonOf(text.bytes));
  if (!result.success) return failed(`${directory.result} is not the result of a run of this version.`);
  if (result.data.status === 'running') return failed(`The run in ${directory.path} ${UNENDED}`);
  if (result.data.patch === null)
    return failed(
      `The run in ${directory.path} ended without a patch: ${oneLine(result.data.reason, MAX_REASON)}`,
    );
  const read = readRegularFile(directory.patch, MAX_PATCH_BYTES);
  if (read.status === 'failed') return unreadable(directory, directory.patch, read);
  const { bytes: patch } = read;
  if (createHash('sha256').update(patch).digest('hex') !== result.data.patch.sha256)
    return failed(`${directory.patch} is not the patch that the run wrote.`);
  return { status: 'ok', patch, files: result.data.changedFiles };
}

function unreadable(directory: RunDirectory, path: string, { missing, why }: FileReadFailure): PatchRead {
  return failed(missing ? `The run in ${directory.path} has made no patch.` : sentence(`${path} ${why}`));
}
