/**
 * The one way to open a run, be it new, resumed or replayed. A `RunSpec` supplies what differs; the order is always:
 *
 *     locate   the checkout and the run directory
 *     admit    the account that triggered the run may do so, and the task is known
 *     open     the provider and the sandbox, side by side, while a new run looks at the work tree
 *     refuse   what is not contained: nothing has been run yet, and nothing written to the checkout
 *     take     the workspace, as the baseline or as the run left it
 *     settle   the commands that run before the work
 */

import { whyNotWritable } from '../adapters/sandboxes/own-program.ts';
import { obstacleTo } from '../adapters/storage/patch-file.ts';
import { whyReadOnly } from '../adapters/workspace/read-only.ts';
import { disarmSandboxGitDir } from '../adapters/workspace/reset-sandbox-git-dir.ts';
import { absolutePath } from '../domain/changes/path.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { type RunOutcome, refusedFor, sandboxUnavailable, usageError } from '../domain/run/outcome.ts';
import { type Warning, warning } from '../domain/warnings/warning.ts';
import { raceAbort } from '../host/deadline.ts';
import type { LlmProvider, VerifyPlace } from '../ports.ts';
import { wantedCaches } from './open/caches.ts';
import { Closing } from './open/closing.ts';
import { type OpenSibling, openContained } from './open/sandbox.ts';
import { notOpened, sandboxSettings, warnOfReadableSecrets } from './open/sandbox-settings.ts';
import { whyNotUncontained, whyUncovered } from './open/uncontained.ts';
import { renaming, type VerifyPlaceParts, verifyPlaceOf } from './open/verify-place.ts';
import { interruptedOutcome, type Ready, type Stopped, stopped } from './ready.ts';
import type { Admitted, BegunTaking, FirstLook, Located, RunSpec, TakenWorkspace } from './run-spec.ts';
import type { Session } from './session.ts';
import { whyLoginShown } from './trust/login-files.ts';

/** Stops with an outcome at the first stage that refuses. Everything opened by then is closed. */
export async function openRun<Taken extends TakenWorkspace>(
  session: Session,
  spec: RunSpec<Taken>,
): Promise<Ready | Stopped> {
  const closing = new Closing((failure) =>
    session.warn(warning('WARN_LEFT_BEHIND', `The sandbox could not clean up: ${failure}.`)),
  );
  try {
    const opened = await openInOrder(session, spec, closing);
    if (opened.status === 'stopped') await closing.close();
    return opened;
  } catch (error) {
    await closing.close();
    throw error;
  }
}

async function openInOrder<Taken extends TakenWorkspace>(
  session: Session,
  spec: RunSpec<Taken>,
  closing: Closing,
): Promise<Ready | Stopped> {
  const located = await locateRun(session, (one) => spec.locate(one));
  if (located.status === 'stopped') return located;
  const admitted = await located.admit();
  if (admitted.status === 'stopped') return admitted;
  const parts = await openParts(session, { located, admitted, closing });
  if (parts.status === 'stopped') return parts;
  const refusal = checkContainment(session, admitted, parts);
  if (refusal !== null) return stopped(refusal);

  const { provider, sandbox, beside } = parts;
  const hopeless = (await admitted.whyHopeless?.(parts)) ?? null;
  if (hopeless !== null) return stopped(usageError('ERR_PROGRAM_MISSING', hopeless));
  const taken = await take(session, { located, admitted, begun: parts.begun });
  if (taken.status === 'stopped') return taken;
  const { workspace } = taken;
  const verifyPlace = placeOf({ located, admitted, workspace, beside });
  const own = (close: () => unknown) => closing.own(close);
  const settled = await admitted.settle({ provider, sandbox, taken, verifyPlace, own });
  if (settled.status === 'stopped') return settled;
  const { tools, permits, forbidsBelow } = admitted;
  return {
    clock: session.input.now,
    interrupt: session.interrupt,
    redact: session.redact,
    sinks: [],
    judge: (outcome) => outcome,
    tools,
    servers: () => [],
    restServers: async () => undefined,
    asked: (isLast) => session.asked.take(isLast),
    onAsked: (wake) => session.asked.onNew(wake),
    ...settled,
    ...{ permits, forbidsBelow, provider, workspace, sandbox, verifyPlace },
    status: 'ready',
    directory: located.directory,
    close: () => closing.close(),
  };
}

/** The first stage. Several attempts go through it once for all of them, since each then works in a copy. */
export async function locateRun<
  Place extends { readonly status: 'located' | 'ok' } & Pick<Located, 'checkout'>,
>(session: Session, locate: (session: Session) => Promise<Place | Stopped>): Promise<Place | Stopped> {
  const located = await locate(session);
  if (located.status === 'stopped') return located;
  const misplaced = whyMisplaced(session, located);
  return misplaced === null ? located : stopped(refusedFor([misplaced]));
}

/** Why a path that the run uses must not be where it is; null if all of them may. */
function whyMisplaced({ input }: Session, { checkout }: Pick<Located, 'checkout'>): Problem | null {
  const { settings, cwd } = input;
  const obstacle = settings.patch === null ? null : obstacleTo(absolutePath(cwd, settings.patch));
  const readOnly = settings.preflight === 'off' ? null : whyReadOnly(checkout.root);
  const unwritable = obstacle ?? readOnly;
  if (unwritable !== null) return problem('ERR_UNWRITABLE', unwritable);
  const own = whyNotWritable(checkout.root, sandboxSettings(input).mounts ?? []);
  if (own !== null) return problem('ERR_OWN_PROGRAM', own);
  const login = whyLoginShown(checkout.root, input);
  return login === null ? null : problem('ERR_LOGIN_IN_TREE', login);
}

interface OpenParts<Taken> extends FirstLook {
  readonly status: 'ok';
  readonly provider: LlmProvider;
  readonly warnings: readonly Warning[];
  readonly beside: OpenSibling;
  readonly begun: BegunTaking<Taken>;
}

interface Stages<Taken extends TakenWorkspace> {
  readonly located: Located<Taken>;
  readonly admitted: Admitted<Taken>;
}

/** The provider's library loads while the sandbox is being proven. */
async function openParts<Taken extends TakenWorkspace>(
  session: Session,
  { located: { checkout, directory }, admitted, closing }: Stages<Taken> & { closing: Closing },
): Promise<OpenParts<Taken> | Stopped> {
  const { mode, hosts, shownAs = checkout.root, onProving, lookup } = admitted.sandbox;
  const begun = await admitted.begin();
  const caches = await wantedCaches(session.input, checkout, (one) => session.warn(one));
  const options = {
    mode,
    root: checkout.root,
    shownAs,
    sandboxGitDir: begun.sandboxGitDir,
    scratchDir: directory.scratch,
    ...sandboxSettings(session.input),
    ...caches,
    ...(onProving === undefined ? {} : { onProving }),
    ...(lookup === undefined ? {} : { lookup }),
  };
  const opening = Promise.all([admitted.openProvider(), openContained(session, { options, hosts, closing })]);
  const both = await raceAbort(admitted.giveUp, opening);
  if (both === null) return stopped(interruptedOutcome(session));
  const [providing, opened] = both;
  if (providing.status === 'failed') return stopped(usageError('ERR_PROVIDER_UNUSABLE', providing.message));
  if (opened.status !== 'ok') return stopped(notOpened(opened));
  const sandbox = renaming(opened.sandbox, shownAs, checkout.root);
  return { ...opened, provider: providing.provider, sandbox, begun };
}

/** Null when commands are contained as required. */
function checkContainment<Taken extends TakenWorkspace>(
  session: Session,
  { whyNotIn }: Pick<Admitted<Taken>, 'whyNotIn'>,
  { sandbox, warnings }: Pick<OpenParts<Taken>, 'sandbox' | 'warnings'>,
): RunOutcome | null {
  for (const warning of warnings) session.warn(warning);
  const refusal = whyNotUncontained(session.input.trust, sandbox) ?? whyNotIn?.(sandbox) ?? null;
  if (refusal === null) warnOfReadableSecrets(session, sandbox);
  return refusal;
}

/** A large work tree takes time, and a run that has to stop does not wait for it. */
async function take<Taken extends TakenWorkspace>(
  session: Session,
  { located, admitted, begun }: Stages<Taken> & { begun: BegunTaking<Taken> },
): Promise<Taken | Stopped> {
  const { checkout, directory } = located;
  const taking = session.progress.during({ label: 'taking a snapshot of the work tree' }, begun.take);
  const taken = await raceAbort(admitted.giveUp, taking);
  if (taken === null) return stopped(interruptedOutcome(session));
  if (taken.status === 'failed') return stopped(usageError('ERR_NO_SNAPSHOT', taken.message));
  session.atEnd(() => disarmSandboxGitDir(checkout, directory));
  const { workspace } = taken;
  if (session.input.settings.sandbox !== 'required') return taken;
  const { uncovered = [] } = workspace.sandboxGitDir;
  return uncovered.length === 0
    ? taken
    : stopped(sandboxUnavailable('ERR_SANDBOX_UNCOVERED', whyUncovered(uncovered)));
}

function placeOf<Taken extends TakenWorkspace>({
  located: { checkout, directory },
  admitted: { verify, sandbox },
  workspace,
  beside,
}: Stages<Taken> & Pick<VerifyPlaceParts, 'workspace' | 'beside'>): VerifyPlace {
  return verifyPlaceOf({
    ...verify,
    checkout,
    workspace,
    shadowDir: directory.shadowGit,
    scratchDir: directory.scratch,
    shownAs: sandbox.shownAs ?? checkout.root,
    beside,
  });
}
