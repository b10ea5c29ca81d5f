/**
 * The steps at the end of a run: the patch, the attribution of its lines, and what stayed out of it. Each may fail without
 * affecting the others.
 */

import { writePatch } from '../../adapters/storage/patch-file.ts';
import type { PathChange } from '../../domain/changes/change.ts';
import { absolutePath, quotedName } from '../../domain/changes/path.ts';
import type { RunResult } from '../../domain/run/result.ts';
import type { RunState } from '../../domain/run/state.ts';
import { listed, pluralize } from '../../domain/text/words.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { readBlobs } from '../../git/store/blobs.ts';
import type { NestedChange, PatchResult, ProvenPatch, ReadBlobs } from '../../ports/workspace.ts';
import { sandboxSettings, whyLedAstray } from '../open/sandbox-settings.ts';
import type { Ready } from '../ready.ts';
import type { Session } from '../session.ts';
import { doneValue, tryStep } from './crash.ts';
import { closingWarnings } from './result.ts';
import type { ReviewedPart } from './review.ts';

/** What the steps came to, as far as the outcome depends on it. One that did not end is null. */
export interface Steps {
  readonly made: PatchResult | null;
  readonly reviewed: ReviewedPart | null;
  readonly kept: KeptPatch;
  readonly nested: NestedPart | null;
  /** The first step that crashed; without one, what did not end was cut short. */
  readonly crash: { readonly error: unknown } | null;
}

/** What a step adds to the result. */
interface Told {
  readonly part?: Partial<RunResult>;
  readonly warnings?: readonly Warning[];
}

/**
 * The patch is saved before anything else is examined: time may run out at any moment. What comes after that does not wait for
 * each other.
 */
export async function takeSteps(
  session: Session,
  ready: Ready,
  { state, net }: { state: RunState; net: readonly PathChange[] },
): Promise<Steps> {
  const { workspace, directory, verifyPlace } = ready;
  const { history } = state.changes;
  const read: ReadBlobs = (ids, maxBytes) => readBlobs(directory.shadowGit, ids, maxBytes);
  const tell = (step: Told | null): void => {
    const { part, warnings = [] } = step ?? {};
    if (part !== undefined) session.record(part);
    for (const warning of warnings) session.warnOf(warning);
  };
  let crash: Steps['crash'] = null;
  const attempt = async <T>(step: () => Promise<T>): Promise<T | null> => {
    const tried = await tryStep(step);
    if (tried.status === 'crashed') crash ??= tried;
    return doneValue(tried);
  };
  const made = await attempt(() => workspace.makePatch(net));
  const proven = made?.status === 'proven' ? made.patch : null;
  const reviewed = await attempt(async (): Promise<ReviewedPart> => {
    if (proven === null || proven.files.length === 0) return NOT_REVIEWED;
    const { reviewedPart } = await import('./review.ts');
    return reviewedPart(session, ready, { net, patch: proven, read });
  });
  const { flags = [], secrets = [], oversize = null } = reviewed ?? {};
  const mayBePublished = reviewed?.withheld === null;
  const kept = mayBePublished && proven !== null ? await keep(session, ready, proven) : NOT_KEPT;
  const { patch, isThere } = kept;
  session.record({
    treeSha: proven?.tree ?? null,
    patch:
      patch !== null && isThere
        ? { path: directory.patch, sha256: patch.sha256, bytes: patch.bytes.length }
        : null,
    changedFiles: proven?.files ?? [],
    flags,
    secrets,
    // An attempt that is brought in had its own.
    ...{ uncommittedPatch: null, provenance: null },
  });
  if (patch !== null && oversize !== null)
    session.warn('WARN_TOO_LARGE_TO_PUBLISH', `${oversize} Raise the limit of publish, or split the plan.`);
  const uncommitted = await attempt(() => uncommittedPart(ready, net, kept));
  await tryStep(() => workspace.settleFiles());
  const [changed, nested, ignored] = await Promise.all([
    attempt(() => attributed(state, proven, directory.shadowGit)),
    attempt(() => nestedPart(ready)),
    attempt(() => workspace.ignoredWrites()),
    keepEssentials(session, ready, history),
  ]);
  for (const step of [uncommitted, changed]) tell(step);
  if (nested === null && crash === null)
    session.warn(
      'WARN_LOOK_CUT_SHORT',
      'There was not enough time to look for changes in submodules and other repositories in the work tree.',
    );
  const { warnings, exposed, removedGitDirs } = workspace.notes();
  for (const warning of [...warnings, ...verifyPlace.warnings()]) session.warnOf(warning);
  tell(nested);
  const { paths, count } = ignored ?? { paths: [], count: 0 };
  for (const warning of closingWarnings(state, { paths, count }, exposed)) session.warnOf(warning);
  session.record({
    ignoredFiles: [...paths],
    ignoredFileCount: count,
    hiddenFiles: state.changes.hidden().slice(0, MAX_LISTED),
    exposedFiles: exposed.slice(0, MAX_LISTED),
    removedGitDirs: [...removedGitDirs],
  });
  return { made, reviewed, kept, nested, crash };
}

/** Files that one list of the result names. */
const MAX_LISTED = 1_000;

const NOT_REVIEWED: ReviewedPart = { flags: [], secrets: [], withheld: null, oversize: null };

/** A run without changes needs none of the modules that do this. */
async function attributed(state: RunState, patch: ProvenPatch | null, gitDir: string): Promise<Told | null> {
  if (state.changes.history.length === 0)
    return patch && { part: { provenance: { files: [], filesLeftOut: 0 } } };
  const { attributedPart } = await import('./attribution.ts');
  return attributedPart(state, patch, gitDir);
}

/** What could not be tidied takes more room, and nothing else is wrong with it. */
async function keepEssentials(
  session: Session,
  { workspace }: Ready,
  history: readonly PathChange[],
): Promise<void> {
  const kept = await tryStep(() => workspace.keepEssentials(history));
  const why = kept.status === 'crashed' ? String(kept.error) : doneValue(kept);
  if (why !== null)
    session.warn('WARN_RUN_DIRECTORY_LARGE', `The run directory is larger than necessary: ${why}`);
}

/** What happened to a patch that may be published; `patch` is null when there is none. */
interface KeptPatch {
  readonly patch: ProvenPatch | null;
  /** It is in the run directory. */
  readonly isThere: boolean;
  /** Why it could not be written to one of its places; null when it was written to all. */
  readonly failure: string | null;
}

const NOT_KEPT: KeptPatch = { patch: null, isThere: false, failure: null };

/** Writes the patch to the run directory and, with `--patch`, to the named file: to either even if the other fails. */
async function keep(
  session: Session,
  { directory, checkout }: Ready,
  patch: ProvenPatch,
): Promise<KeptPatch> {
  const { settings, cwd } = session.input;
  const unkept = writePatch(directory.patch, patch);
  if (settings.patch === null) return { patch, isThere: unkept === null, failure: unkept };
  const named = absolutePath(cwd, settings.patch);
  const unwritten =
    whyLedAstray(checkout.root, sandboxSettings(session.input), named) ?? writePatch(named, patch);
  return { patch, isThere: unkept === null, failure: unkept ?? unwritten };
}

/** Keeps the uncommitted work beside a patch that has something in it: without it the patch could not be applied to the commit. */
async function uncommittedPart(
  { workspace, directory, start: { followUp } }: Ready,
  net: readonly PathChange[],
  kept: { readonly patch: ProvenPatch | null; readonly isThere: boolean },
): Promise<Told> {
  if (kept.patch === null || kept.patch.bytes.length === 0 || !kept.isThere) return {};
  const made = await workspace.uncommitted(net);
  if (made === null) return {};
  if (made.status === 'failed') return { warnings: [notKept(made.message)] };
  const { leftOut } = made;
  const left = warning(
    'WARN_UNCOMMITTED_NOT_KEPT',
    `${pluralize(leftOut.length, 'large uncommitted file')} that the run did not change ${leftOut.length === 1 ? 'is' : 'are'} not kept: ${listed(leftOut.map(quotedName), 5)}.`,
  );
  const notes = leftOut.length === 0 ? [] : [left];
  const { bytes, sha256 } = made.patch;
  if (bytes.length === 0) return { warnings: notes };
  const failure = writePatch(directory.uncommitted, made.patch);
  if (failure !== null) return { warnings: [notKept(failure)] };
  const { commit } = workspace.base();
  const base = commit === null ? 'an empty tree' : commit.slice(0, 12);
  const merge = followUp?.merge ?? null;
  const what =
    merge === null
      ? `The work tree had uncommitted changes when the run started. The patch applies to ${base} after ${directory.uncommitted}.`
      : `The patch is relative to the merge of ${merge.slice(0, 12)}, which publish makes again. By hand, apply ${directory.uncommitted} to ${base} first.`;
  return {
    part: { uncommittedPatch: { path: directory.uncommitted, sha256, bytes: bytes.length } },
    warnings: [warning('WARN_UNCOMMITTED_WORK', what), ...notes],
  };
}

function notKept(why: string): Warning {
  return warning(
    'WARN_UNCOMMITTED_NOT_KEPT',
    `The patch applies to the uncommitted work that the run started with, which could not be kept as a patch: ${why}`,
  );
}

/** Maximum number of files and folders named per repository. */
const MAX_NAMED = 100;

/** What the result says about nested repositories. */
interface NestedPart extends Told {
  /** Changes that are not allowed. They cannot be put back, since no contents of such repositories are kept. */
  readonly forbidden: readonly string[];
}

/** Examines every file of such repositories. */
async function nestedPart({
  workspace,
  permits,
  forbidsBelow,
}: Pick<Ready, 'workspace' | 'permits' | 'forbidsBelow'>): Promise<NestedPart> {
  const changes = await workspace.nestedChanges();
  return {
    part: {
      nestedChanges: changes.map((change) => ({
        path: change.path,
        files: namedIn(change).slice(0, MAX_NAMED),
      })),
    },
    warnings: changes.map((change) =>
      warning(
        'WARN_REPOSITORY_CHANGED',
        `Not in the patch, because ${JSON.stringify(change.path)} is a separate repository that changed during the run: ${listed(namedIn(change), 5)}.`,
      ),
    ),
    // A folder whose entries changed may have lost a file that the rules name.
    forbidden: changes.flatMap(({ files, folders }) => [
      ...files.filter((path) => !permits(path)),
      ...folders.filter((path) => !permits(path) || forbidsBelow(path)),
    ]),
  };
}

function namedIn({ files, folders }: NestedChange): string[] {
  return [...files, ...folders].sort();
}
