/** Reads a finished run for publishing. Its folder may be an artifact of a job that ran a model: none of it is trusted. */

import { endDeadRun } from '../../adapters/storage/dead-run.ts';
import { findRun } from '../../adapters/storage/find-run.ts';
import { jsonOf, MAX_PATCH_BYTES, MAX_RESULT_BYTES } from '../../adapters/storage/read-result.ts';
import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import { whyNoGlob } from '../../domain/changes/glob.ts';
import { parseRepoPath } from '../../domain/changes/path.ts';
import type { Environment } from '../../domain/environment.ts';
import type { Failed } from '../../domain/failed.ts';
import { isBranchName } from '../../domain/github/publishing/identity.ts';
import { commentReference, issueReference } from '../../domain/github/reference.ts';
import type { PlanSource } from '../../domain/run/plan.ts';
import { RunResult } from '../../domain/run/result.ts';
import { shortened } from '../../domain/text/shorten.ts';
import { sentence } from '../../domain/text/words.ts';
import { sha256Of } from '../../files/hash.ts';
import { readRegularFile } from '../../files/regular-file.ts';

/** A run whose result has the right form, and whose patch is the one that it names; `patch` is null if it names none. */
export interface CheckedRun {
  readonly directory: RunDirectory;
  readonly result: RunResult;
  readonly patch: Buffer | null;
}

/** A run directory that was checked as hostile input, or why it is refused; `directory` is null if there is no run. */
export type RunRead =
  | { status: 'ok'; run: CheckedRun }
  | (Failed & { readonly directory: RunDirectory | null });

/** Maximum characters of all globs of a run together: both they and what they are matched against may be hostile. */
const MAX_GLOBS_LENGTH = 4_000;

/** `run` is a run directory or the id of a run. Links inside it are not followed. */
export async function readRun(run: string, at: { cwd: string; env: Environment }): Promise<RunRead> {
  const found = await findRun(run, at);
  if (found.status === 'failed') return { ...found, directory: null };
  const { directory } = found;
  const failed = (message: string): RunRead => ({ status: 'failed', message: sentence(message), directory });
  const read = readRegularFile(directory.result, MAX_RESULT_BYTES);
  if (read.status === 'failed') return failed(`${directory.result} ${read.why}`);
  const parsed = RunResult.safeParse(jsonOf(read.bytes));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return failed(
      `${directory.result} is not the result of a run of this version (${issue?.path.join('.') || 'all of it'}: ${issue?.message})`,
    );
  }
  const result = (await endDeadRun(directory)) ?? parsed.data;
  const unsafe = unsafeNames(result);
  if (unsafe !== null) return failed(`${directory.result}: ${unsafe}`);
  if (result.patch === null) return { status: 'ok', run: { directory, result, patch: null } };
  const patch = readPatch(directory, result, result.patch);
  return typeof patch === 'string' ? failed(patch) : { status: 'ok', run: { directory, result, patch } };
}

/** The patch, or the problem with it. */
function readPatch(
  directory: RunDirectory,
  result: RunResult,
  { sha256, bytes: size }: NonNullable<RunResult['patch']>,
): Buffer | string {
  const read = readRegularFile(directory.patch, Math.min(Math.max(size, 0), MAX_PATCH_BYTES));
  if (read.status === 'failed') return `${directory.patch} ${read.why}`;
  const { bytes } = read;
  if (bytes.length !== size || sha256Of(bytes) !== sha256)
    return `${directory.patch} is not the patch that the run wrote: its hash differs from the one in the result`;
  if (result.baseTree === null || result.treeSha === null)
    return `${directory.result} has a patch but does not name its trees`;
  return bytes;
}

/** Whatever in the result is passed to GitHub or git must have the expected form. */
function unsafeNames(result: RunResult): string | null {
  const { changedFiles, paths, plan, baseSha, baseTree, treeSha, baseBranch, followUp, runId } = result;
  if (!/^[\w-]{1,100}$/.test(runId)) return `${shortened(JSON.stringify(runId), 200)} is not the id of a run`;
  for (const id of [baseSha, baseTree, treeSha])
    if (id !== null && !/^[0-9a-f]{40}$/.test(id))
      return `${shortened(JSON.stringify(id), 200)} is not an object id that GitHub uses`;
  for (const name of [baseBranch, followUp?.branch ?? null])
    if (name !== null && !isBranchName(name))
      return `${shortened(JSON.stringify(name), 200)} is not a branch name`;
  if (plan !== null && !agreesWithItself(plan.source))
    return `${JSON.stringify(plan.source)} names two different issues, or none`;
  for (const { path, from } of changedFiles) {
    const why = whyNotSafe(path) ?? (from === undefined ? null : whyNotSafe(from));
    if (why !== null) return why;
  }
  // A glob that cannot be parsed would protect nothing.
  const globs = [paths, plan].flatMap((rules) => (rules ? [...rules.allow, ...rules.protect] : []));
  for (const glob of globs) {
    const why = whyNoGlob(glob);
    if (why !== null) return `${shortened(JSON.stringify(glob), 200)} is not a glob: it ${why}`;
  }
  if (globs.join('').length > MAX_GLOBS_LENGTH)
    return `allow and protect have more than ${MAX_GLOBS_LENGTH} characters`;
  return null;
}

/** An issue or a comment is identified by its repository and number, and again by the address of its page. */
function agreesWithItself(source: PlanSource): boolean {
  if (source.kind !== 'issue' && source.kind !== 'comment') return true;
  const { url, repository, number } = source;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return false;
  const around = { repository: null, serverUrl: new URL(url).origin };
  const issue = issueReference(url, around);
  if (typeof issue === 'string' || issue.number !== number) return false;
  if (issue.repository.toLowerCase() !== repository.toLowerCase()) return false;
  if (source.kind === 'issue') return true;
  const comment = commentReference(url, around);
  return typeof comment !== 'string' && comment.id === source.commentId;
}

/** The rules that apply everywhere, without normalising: the path is used as it is. */
function whyNotSafe(path: string): string | null {
  const verdict = parseRepoPath(path);
  if (!verdict.ok) return verdict.message.replace(/ Use run_command with git\.$/, '');
  return verdict.path === path && path !== '' ? null : `${JSON.stringify(path)} is not a file path`;
}
