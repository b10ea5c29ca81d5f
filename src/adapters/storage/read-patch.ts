/** Reads the patch of a finished run, with what the result says of its files. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { ChangedFile } from '../../domain/outcome.ts';
import type { RunDirectory } from './run-directory.ts';

export type PatchRead =
  | { status: 'ok'; patch: Uint8Array; files: ChangedFile[] }
  | { status: 'failed'; message: string };

const Result = z.object({
  status: z.enum(['running', 'finished']),
  patch: z.object({ sha256: z.string() }).nullable(),
  changedFiles: z.array(ChangedFile),
});

/** Fails when there is no patch, and when it is not the one that the run wrote. */
export function readPatch(directory: RunDirectory): PatchRead {
  let patch: Buffer;
  let text: string;
  try {
    text = readFileSync(directory.result, 'utf8');
    patch = readFileSync(directory.patch);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'ENOENT') return failed(`The run in ${directory.path} has made no patch.`);
    return failed(`The run in ${directory.path} cannot be read: ${error.message}.`);
  }
  const result = Result.safeParse(parsed(text));
  if (!result.success) return failed(`${directory.result} is no result of a run of this version.`);
  if (result.data.status === 'running' || result.data.patch === null)
    return failed(`The run in ${directory.path} was not brought to its end, so there is no patch.`);
  if (createHash('sha256').update(patch).digest('hex') !== result.data.patch.sha256)
    return failed(`${directory.patch} is not the patch that the run wrote.`);
  return { status: 'ok', patch, files: result.data.changedFiles };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function failed(message: string): PatchRead {
  return { status: 'failed', message };
}
