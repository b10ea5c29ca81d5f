/**
 * What is replayed: whether a recorded run can be, what it started from (the base of the run, and ignored files of the caller's checkout,
 * which no run stores), and whether the replay went the recorded way to the recorded patch.
 */

import { isAbsolute, normalize } from 'node:path';
import { readResult } from '../../adapters/storage/read-result.ts';
import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { copyBase, missingOfBase } from '../../adapters/workspace/kept/base-copy.ts';
import { copyIgnored } from '../../adapters/workspace/work-tree-copy.ts';
import { absolutePath, quotedName } from '../../domain/changes/path.ts';
import type { BaseRevision, RunEvent, RunEvents, RunStarted } from '../../domain/run/events.ts';
import { done, type RunOutcome, verifyFailed } from '../../domain/run/outcome.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { listed, pluralize } from '../../domain/text/words.ts';
import type { Session } from '../../engine/session.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import { openKeptObjects } from '../../git/store/bare-repository.ts';
import type { ProvenPatch } from '../../ports/workspace.ts';
import type { ReplayTracker } from './tracker.ts';

/** Which base to copy, and where to. */
interface BaseOfReplay {
  readonly run: RunDirectory;
  readonly start: RunStarted & { readonly base: BaseRevision };
  /** An empty folder for the copy. */
  readonly folder: string;
  /** Where to create the git dir through which its objects are read. */
  readonly objectsGitDir: string;
}

/** The folder whose checkout is the repository. */
function placeOfReplay({ input: { cwd, settings } }: Pick<Session, 'input'>): string {
  return settings.repo === null ? cwd : absolutePath(cwd, settings.repo);
}

/**
 * Null on success, otherwise the reason and what helps. Objects come from the run directory and from the checkout of the
 * caller, never from one that the run names; each is checked by its id.
 */
export async function copyBaseOf(session: Session, asked: BaseOfReplay): Promise<string | null> {
  const { run, start, folder, objectsGitDir } = asked;
  const { base } = start;
  const { shadowGit: shadowDir } = run;
  const place = placeOfReplay(session);
  const found = await findCheckout(place, session.input.env);
  const { objectFormat } = base;
  const checkout =
    found.status === 'ok' && found.checkout.objectFormat === objectFormat ? found.checkout : null;
  const objects = checkout?.objects ?? null;
  openKeptObjects({ shadowDir, objectFormat, objects, gitDir: objectsGitDir });
  const missing = await missingOfBase({ shadowDir, objectsGitDir, base });
  if (missing === null || missing.length > 0)
    return whyIncomplete(missing, { start, place, root: checkout?.root ?? null });
  const failure = await copyBase({ shadowDir, objectsGitDir, base, folder });
  return failure === null ? null : `The base of the run cannot be restored: ${failure}.`;
}

function whyIncomplete(
  missing: readonly string[] | null,
  { start: { root: began, base }, place, root }: { start: RunStarted; place: string; root: string | null },
): string {
  const [commit, full] =
    base.commit === null ? ['no commit', ''] : [`commit ${base.commit.slice(0, 12)}`, ` ${base.commit}`];
  if (root === null)
    return `The base of the run (${commit}) is not kept in its directory, and ${place} is in no checkout of the repository. The run worked in ${began}: go there, or name a clone with --repo. A run with --keep-base needs none.`;
  if (missing === null)
    return `${root} does not have the base of the run (${commit}). Fetch it (git fetch origin${full}), or name another clone with --repo. A run with --keep-base needs none.`;
  return `The base of the run is incomplete: ${root} does not have ${listed(missing.map(quotedName), 5)} as of then (${commit}). A file that was large and uncommitted can be stored as it was (git hash-object -w PATH); what was committed can be fetched (git fetch origin${full}). A run with --keep-base needs none.`;
}

/** Brings ignored folders from the checkout of the current folder into the copy of the base, and returns their names; there are none without a checkout. */
export async function bringIgnored(
  { input, interrupt }: Pick<Session, 'input' | 'interrupt'>,
  copy: string,
): Promise<string[]> {
  const found = await findCheckout(placeOfReplay({ input }), input.env);
  if (found.status === 'failed') return [];
  return copyIgnored({ from: found.checkout.root, to: copy, signal: interrupt });
}

/** The facts that decide the verdict on a replay. */
interface ReplayedRun {
  readonly run: RunDirectory;
  readonly events: readonly RunEvent[];
  readonly tracker: ReplayTracker;
  readonly signal: AbortSignal;
  /** The ignored folders that were copied. */
  readonly ignored: readonly string[];
}

/** A replay succeeds when it makes the recorded patch, whatever the run's outcome was. Other output is only mentioned. */
export function judgeReplay(
  decided: RunOutcome,
  patch: ProvenPatch | null,
  { run, events, tracker, signal, ignored }: ReplayedRun,
): RunOutcome {
  if (signal.aborted || decided.name === 'publish_failed') return decided;
  const [first, ...more] = tracker.divergences();
  const same = isPatch(run.patch, patch?.bytes ?? null);
  const others = more.length > 0 ? `, and in ${pluralize(more.length, 'more event')}` : '';
  const differs = first ? ` The output differs at ${first}${others}.` : '';
  if (!same)
    return verifyFailed('ERR_REPLAY_OTHER_PATCH', `The patch is not that of ${run.patch}.${differs}`);
  const bytes = patch?.bytes.length ?? 0;
  if (first) return done(`The patch is identical (${pluralize(bytes, 'byte')}).${differs}`);
  const having =
    ignored.length > 0 ? ` Ignored files were those of this checkout: ${listed(ignored, 5)}.` : '';
  return done(
    `${pluralize(events.length, 'event')} replayed to the same patch, byte for byte (${pluralize(bytes, 'byte')}).${having}`,
  );
}

/** `bytes` null means that the file is absent. */
function isPatch(path: string, bytes: Uint8Array | null): boolean {
  const read = readRegularFile(path, bytes?.length ?? 0);
  return read.status === 'ok' ? bytes !== null && read.bytes.equals(bytes) : read.missing && bytes === null;
}

/** Null when the recorded run can be replayed. */
export function whyNotReplayable(run: RunDirectory, events: RunEvents): string | null {
  const [{ runId, root }] = events;
  if (events.at(-1)?.type !== 'run.stopped')
    return `The run ${runId} was not finished: its journal ends with event ${events.length}.${whyUnfinished(run)}`;
  const cut = whyCutAnywhere(events);
  if (cut !== null) return `The run ${runId} ${cut} Its patch, proven when the run ended, is ${run.patch}.`;
  // Everything that commands see besides the copy belongs to this machine, which a recording has no say in.
  const isPlace = isAbsolute(root) && normalize(root) === root;
  return isPlace && !/\0|^\/(?:$|(?:proc|dev|sys)(?:\/|$))/.test(root)
    ? null
    : `The run claims to have worked in ${JSON.stringify(root)}, where no checkout can be.`;
}

/**
 * Null when the run was resumed only where it had stopped by itself, with nothing in progress and no changes by others
 * accepted.
 */
function whyCutAnywhere(events: RunEvents): string | null {
  for (const [index, event] of events.entries()) {
    if (event.type !== 'run.resumed') continue;
    const before = events[index - 1];
    if (before?.type !== 'run.stopped')
      return 'was killed and resumed, and a replay cannot be killed at the same moment.';
    if (before.stop.why === 'interrupted' || before.stop.why === 'deadline')
      return 'was resumed after a signal or its deadline, and a replay cannot be stopped at the same moment.';
    if (event.accepted.length > 0)
      return 'was resumed on changes that it had not made (--accept-changes), which a replay does not have.';
  }
  return null;
}

/** A sentence with a leading space; empty if the result does not say. */
function whyUnfinished(run: RunDirectory): string {
  const result = readResult(run);
  if (result?.status === 'running') return ' A process is still running it.';
  return result?.outcome === 'internal_error' ? ` ${oneLine(result.reason, 2_000)}` : '';
}
