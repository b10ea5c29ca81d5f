/** The folder of one run: journal, result, patch and shadow repository, outside the work tree. */

import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isWithin } from '../../domain/changes/path.ts';
import type { Environment } from '../../domain/environment.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import type { Redact } from '../../domain/secrets/redact.ts';
import { jsonLine } from '../../domain/text/terminal.ts';
import { sentence } from '../../domain/text/words.ts';
import { orNone } from '../../files/failures.ts';
import { replaceFile } from '../../files/replace-file.ts';

/** Absolute paths of the files in which a run is stored. */
export interface RunDirectory {
  readonly path: string;
  readonly events: string;
  readonly result: string;
  readonly patch: string;
  /** What was uncommitted when the run began, as a patch of the base commit; `patch` applies after it. */
  readonly uncommitted: string;
  /** The report page for people. */
  readonly report: string;
  /** The result of its last publication. */
  readonly publication: string;
  readonly shadowGit: string;
  /** For the sandbox: emptied when the run ends. */
  readonly scratch: string;
  /** The git dir of the model's commands, in `scratch`. */
  readonly sandboxGitDir: string;
}

/** Where to create a run directory. */
export interface RunDirectoryRequest {
  readonly runId: string;
  /** Created by a check, which is not a run. */
  readonly isCheck?: boolean;
  /** `--run-dir`, absolute or relative to `cwd`; null for the default place. */
  readonly chosen: string | null;
  readonly cwd: string;
  readonly env: Environment;
  /** The work tree, which must not hold the run directory; null when there is none. */
  readonly workTree: string | null;
}

/** The run directory, or why it cannot be created there. */
export type RunDirectoryResult = { status: 'ok'; directory: RunDirectory } | Failed;

/** What `newRunId` makes. */
export const RUN_ID = /^\d{8}-\d{6}-[0-9a-f]{6}$/;

/** An id that sorts by time: `20261121-101500-3f9a2c`. */
export function newRunId(now: number): string {
  const stamp = new Date(now).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `${stamp}-${randomBytes(3).toString('hex')}`;
}

/** When a run with this id began, in Unix milliseconds; null for an id of another form. */
export function startOfId(runId: string): number | null {
  const digits = RUN_ID.test(runId) ? runId.slice(0, 15) : '';
  const iso = digits.replace(/^(....)(..)(..)-(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z');
  const time = Date.parse(iso);
  return Number.isNaN(time) ? null : time;
}

/**
 * Creates the folder, readable for its owner only: `--run-dir`, otherwise the first of the default places that can be written.
 * Directories of checks are in a folder `checks` there.
 */
export function makeRunDirectory(request: RunDirectoryRequest): RunDirectoryResult {
  const wanted = request.chosen === null ? defaultPlace(request) : resolve(request.cwd, request.chosen);
  if (wanted === undefined)
    return failed(
      'There is no place for the run directory: neither HOME nor TMPDIR is set. Choose one with --run-dir.',
    );
  if (existsSync(join(wanted, 'events.jsonl')) || existsSync(join(wanted, 'result.json'))) {
    return failed(
      `The run directory ${wanted} already contains a run. Choose another one with --run-dir, or remove it.`,
    );
  }
  const { workTree } = request;
  if (workTree !== null && isWithin(nearestReal(wanted), workTree)) {
    return failed(
      `The run directory ${wanted} is in the work tree ${workTree}. Choose one outside with --run-dir.`,
    );
  }
  const scratch = join(wanted, 'scratch');
  try {
    makeFolder(scratch);
  } catch (error) {
    if (isSystemError(error))
      return failed(
        `${sentence(`The run directory ${wanted} cannot be created: ${error.message}`)} Choose another one with --run-dir, or the folder of all runs with XDG_STATE_HOME.`,
      );
    throw error;
  }
  return { status: 'ok', directory: runDirectoryAt(realpathSync(wanted)) };
}

/** The paths of a run directory's parts, whether it exists or not. */
export function runDirectoryAt(path: string): RunDirectory {
  return {
    path,
    events: join(path, 'events.jsonl'),
    result: join(path, 'result.json'),
    patch: join(path, 'changes.patch'),
    uncommitted: join(path, 'uncommitted.patch'),
    report: join(path, 'report.html'),
    publication: join(path, 'publish.json'),
    shadowGit: join(path, 'shadow.git'),
    scratch: join(path, 'scratch'),
    sandboxGitDir: join(path, 'scratch', 'agent.git'),
  };
}

/** Whether the run directory exists. */
export function isThere(directory: RunDirectory): boolean {
  return existsSync(directory.path);
}

/** Creates missing parents too. Node's own recursive mode never returns in a folder such as /proc, where none can be created. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/**
 * Where a run with this id is by default: below `RUNNER_TEMP`, `XDG_STATE_HOME`, `~/.local/state`, or `TMPDIR` for a container
 * without a home. A variable that is not an absolute path is ignored: a relative one would be a different place for every command.
 */
export function placesOf(runId: string, env: RunDirectoryRequest['env']): string[] {
  const home = isPlace(env.HOME) ? env.HOME : homeOfUser();
  const bases = [env.RUNNER_TEMP, env.XDG_STATE_HOME, home && join(home, '.local', 'state')];
  // Others may write to it as well.
  const temporary = isPlace(env.TMPDIR) && mayHoldRuns(join(env.TMPDIR, 'patchsmith')) ? env.TMPDIR : '';
  return [...bases, temporary].filter(isPlace).map((base) => join(base, 'patchsmith', runId));
}

/** Whether a folder is this user's own, or does not exist yet. */
function mayHoldRuns(folder: string): boolean {
  const isOwn = orNone(() => {
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    return stat === undefined || (stat.isDirectory() && stat.uid === process.getuid?.());
  });
  return isOwn ?? false;
}

/** The place of a new run: the first that can be written, or else simply the first. */
export function newPlaceOf(places: readonly string[]): string | undefined {
  return places.find(isWritable) ?? places[0];
}

/** Whether a folder can be written or made there. */
export function isWritable(place: string): boolean {
  if (!existsSync(place)) return place !== dirname(place) && isWritable(dirname(place));
  return orNone(() => accessSync(place, constants.W_OK | constants.X_OK)) !== null;
}

/** Undefined for a user unknown to the machine, as in a container that is started with an arbitrary user id. */
function homeOfUser(): string | undefined {
  return orNone(() => userInfo().homedir) ?? undefined;
}

function isPlace(path: string | undefined): path is string {
  return path !== undefined && isAbsolute(path);
}

/** Replaces `result.json`. */
export function writeResult({ result }: RunDirectory, text: string): void {
  replaceFile(result, text);
}

/** Removes the page of a run that continues. */
export function removeReport({ report }: RunDirectory): void {
  rmSync(report, { force: true });
}

/** One line, as printed after the events with `--output jsonl`. */
export function resultLine(result: object, redact: Redact): string {
  return jsonLine({ type: 'result', ...result }, redact);
}

/**
 * Starts the work of `clearScratch` in parallel with other work. Never rejects: `clearScratch` removes what is left,
 * and reports it.
 */
export async function clearScratchAhead(directory: RunDirectory): Promise<void> {
  await rm(directory.scratch, { recursive: true, force: true }).catch(() => undefined);
}

/** Removes what only a running run needs. Null on success, otherwise why some of it still exists. */
export function clearScratch(directory: RunDirectory): string | null {
  const remove = () => rmSync(directory.scratch, { recursive: true, force: true });
  try {
    if (orNone(remove) !== null) return null;
    // Package managers create folders that are read-only even for their owner.
    openFolders(directory.scratch);
    remove();
    return null;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return sentence(`The folder ${directory.scratch} cannot be removed: ${error.message}`);
  }
}

function openFolders(folder: string): void {
  // A link in its place would open someone else's folder.
  if (!lstatSync(folder).isDirectory()) return;
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) openFolders(join(folder, entry.name));
}

function defaultPlace({ env, runId, isCheck = false }: RunDirectoryRequest): string | undefined {
  return newPlaceOf(isCheck ? checkPlacesOf(runId, env) : placesOf(runId, env));
}

/** The same for what a check keeps, so that it does not count as a run. */
export function checkPlacesOf(runId: string, env: RunDirectoryRequest['env']): string[] {
  return placesOf(CHECKS, env).map((place) => join(place, runId));
}

/** Also holds work that a run may reuse. */
export const CHECKS = 'checks';

/** The real path of a folder that may not exist yet: links are resolved in the part that exists. */
export function nearestReal(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(nearestReal(parent), path.slice(parent.length));
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error;
}
