/**
 * From the end of the loop to the outcome: makes, reviews and publishes the patch, completes the result and decides the
 * outcome. Every step is tried, whether or not the earlier ones succeeded.
 */

import type { IgnoredFiles } from '../../domain/changes/ignored-files.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import type { RunState } from '../../domain/run/state.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import type { ProvenPatch } from '../../ports/workspace.ts';
import type { Ready } from '../ready.ts';
import type { Session } from '../session.ts';
import { commandToContinue } from './crash.ts';
import { finalOutcome, type LoopEnd } from './final-outcome.ts';
import { allDenied, knownPart } from './known-part.ts';
import { closingWarnings } from './result.ts';
import { doneValue } from './step.ts';
import { type Steps, takeSteps } from './steps.ts';

/** `patch` is null when none was made or when it must not be published. */
export interface Ended {
  readonly outcome: RunOutcome;
  readonly patch: ProvenPatch | null;
}

/** Never rejects for a failing step: the failure is in the outcome. */
export async function finish(session: Session, ready: Ready, loop: LoopEnd): Promise<Ended> {
  const { state, driven } = loop;
  if (driven.status !== 'done') await sweep(session, ready);
  const denied = allDenied(session, state);
  session.record({ mcp: [...ready.servers()] });
  session.record(knownPart(session, state, denied));
  const net = state.changes.net();
  const steps = await takeSteps(session, ready, { state, net });
  warnOf(session, ready, { state, steps });
  session.record(partOf(ready, { state, steps }));
  const outcome = await finalOutcome(session, ready, { loop, net, steps, denied });
  if (loop.stop !== null) session.nextCommand = commandToContinue(session, loop.stop);
  return { outcome, patch: steps.kept.patch };
}

/** However the run ended, git dirs that commands created must not stay there for the user's git to run. */
async function sweep(session: Session, { workspace }: Ready): Promise<void> {
  await workspace.sweep().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    session.warn(
      'WARN_LEFT_BEHIND',
      `Git dirs that commands created may be left in ${workspace.root}: ${why}`,
    );
  });
}

const NESTED_CUT_SHORT = warning(
  'WARN_LOOK_CUT_SHORT',
  'There was not enough time to look for changes in submodules and other repositories in the work tree.',
);

function warnOf(
  session: Session,
  { workspace, verifyPlace }: Ready,
  {
    state,
    steps: { kept, reviewed, attributed, nested, ignored, moved, uncommitted },
  }: { state: RunState; steps: Steps },
): void {
  const oversize = kept.patch === null ? null : (doneValue(reviewed)?.oversize ?? null);
  const warnings: Warning[] = [
    ...(oversize === null
      ? []
      : [warning('WARN_TOO_LARGE_TO_PUBLISH', `${oversize} Raise the limit of publish, or split the plan.`)]),
    ...(doneValue(uncommitted)?.warnings ?? []),
    ...(doneValue(attributed)?.warnings ?? []),
    ...(nested.status === 'cut_short' ? [NESTED_CUT_SHORT] : []),
    ...workspace.notes().warnings,
    ...verifyPlace.warnings(),
    ...(doneValue(nested)?.warnings ?? []),
    ...[doneValue(moved) ?? []].flat(),
    ...closingWarnings(state, doneValue(ignored) ?? NO_IGNORED, workspace.notes().exposed),
  ];
  for (const warning of warnings) session.warnOf(warning);
}

const NO_IGNORED: IgnoredFiles = { paths: [], count: 0 };

/** Files that one list of the result names. */
const MAX_NAMED = 1_000;

/** The part of the result about the steps. */
function partOf(
  { workspace, directory }: Ready,
  { state, steps }: { state: RunState; steps: Steps },
): Parameters<Session['record']>[0] {
  const { proven, reviewed, kept, attributed, nested } = steps;
  const { flags = [], secrets = [] } = doneValue(reviewed) ?? {};
  const { paths, count } = doneValue(steps.ignored) ?? NO_IGNORED;
  const { exposed, removedGitDirs } = workspace.notes();
  return {
    treeSha: proven?.tree ?? null,
    patch:
      kept.patch !== null && kept.isThere
        ? { path: directory.patch, sha256: kept.patch.sha256, bytes: kept.patch.bytes.length }
        : null,
    uncommittedPatch: doneValue(steps.uncommitted)?.patch ?? null,
    changedFiles: proven?.files ?? [],
    provenance: doneValue(attributed)?.provenance ?? null,
    flags,
    secrets,
    ...doneValue(nested)?.part,
    ignoredFiles: [...paths],
    ignoredFileCount: count,
    hiddenFiles: state.changes.hidden().slice(0, MAX_NAMED),
    exposedFiles: exposed.slice(0, MAX_NAMED),
    removedGitDirs: [...removedGitDirs],
  };
}
