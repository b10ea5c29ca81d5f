/**
 * The steps at the end of a run: the patch, the attribution of its lines, and what stayed out of it. Each may fail without
 * affecting the others.
 */

import { patchFilePublisher } from '../../adapters/storage/patch-file.ts';
import { patchOf } from '../../agent/patch-of.ts';
import type { PathChange } from '../../domain/changes/change.ts';
import type { IgnoredFiles } from '../../domain/changes/ignored-files.ts';
import { absolutePath } from '../../domain/changes/path.ts';
import type { RunState } from '../../domain/run/state.ts';
import { warning } from '../../domain/warnings/warning.ts';
import { readBlobs } from '../../git/store/blobs.ts';
import type { PatchResult, ProvenPatch, ReadBlobs } from '../../ports/workspace.ts';
import type { Ready } from '../ready.ts';
import type { Session } from '../session.ts';
import { attributedPart } from './parts/attributed-part.ts';
import { nestedPart } from './parts/nested-part.ts';
import { type ReviewedPart, reviewedPart } from './parts/reviewed-part.ts';
import { type UncommittedPart, uncommittedPart } from './parts/uncommitted-part.ts';
import { doneValue, type StepEnd, tryStep } from './step.ts';

/** The results of the steps, in the order they are taken. */
export interface Steps {
  readonly made: StepEnd<PatchResult>;
  /** Null without a proven patch. */
  readonly proven: ProvenPatch | null;
  readonly reviewed: StepEnd<ReviewedPart>;
  readonly kept: KeptPatch;
  readonly uncommitted: StepEnd<UncommittedPart>;
  readonly attributed: StepEnd<Awaited<ReturnType<typeof attributedPart>>>;
  readonly nested: StepEnd<Awaited<ReturnType<typeof nestedPart>>>;
  readonly ignored: StepEnd<IgnoredFiles>;
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
  const { history } = state.changes;
  const read: ReadBlobs = (ids, maxBytes) => readBlobs(ready.directory.shadowGit, ids, maxBytes);
  const made = await tryStep(() => patchOf(ready.workspace, net));
  const proven = provenIn(made);
  const reviewed = await tryStep(() => reviewedPart(session, ready, { net, patch: proven, read }));
  const mayBePublished = doneValue(reviewed)?.withheld === null;
  const kept = mayBePublished && proven !== null ? await keep(session, ready, proven) : NOT_KEPT;
  const uncommitted = await tryStep(() => uncommittedPart(ready, net, kept));
  const [attributed, nested, ignored] = await Promise.all([
    tryStep(() => attributedPart(state, proven, ready.directory.shadowGit)),
    tryStep(() => nestedPart(ready)),
    tryStep(() => ready.workspace.ignoredWrites()),
    keepEssentials(session, ready, history),
  ]);
  return { made, proven, reviewed, kept, uncommitted, attributed, nested, ignored };
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
    session.warn(warning('WARN_RUN_DIRECTORY_LARGE', `The run directory is larger than necessary: ${why}`));
}

function provenIn(made: StepEnd<PatchResult>): ProvenPatch | null {
  const result = doneValue(made);
  return result?.status === 'proven' ? result.patch : null;
}

/** What happened to a patch that may be published; `patch` is null when there is none. */
export interface KeptPatch {
  readonly patch: ProvenPatch | null;
  /** It is in the run directory. */
  readonly isThere: boolean;
  /** Why it could not be written to one of its places; null when it was written to all. */
  readonly failure: string | null;
}

const NOT_KEPT: KeptPatch = { patch: null, isThere: false, failure: null };

/** Writes the patch to the run directory and, with `--patch`, to the named file: to either even if the other fails. */
async function keep(session: Session, { directory }: Ready, patch: ProvenPatch): Promise<KeptPatch> {
  const { settings, cwd } = session.input;
  const unkept = await patchFilePublisher(directory.patch).publish(patch);
  const unwritten =
    settings.patch === null
      ? null
      : await patchFilePublisher(absolutePath(cwd, settings.patch)).publish(patch);
  return { patch, isThere: unkept === null, failure: unkept ?? unwritten };
}
