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
import { whyReadOnly } from '../adapters/workspace/find-checkout.ts';
import { disarmSandboxGitDir } from '../adapters/workspace/reset-sandbox-git-dir.ts';
import { absolutePath } from '../domain/changes/path.ts';
import { forbidsBelow, pathGuard, pathPolicy } from '../domain/changes/path-policy.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import type { SandboxLevel } from '../domain/run/events.ts';
import { refusedFor, sandboxUnavailable, usageError } from '../domain/run/outcome.ts';
import { warning } from '../domain/warnings/warning.ts';
import { raceAbort } from '../host/deadline.ts';
import { Closing, openContained } from './open/sandbox.ts';
import {
  notOpened,
  sandboxSettings,
  wantedCaches,
  warnOfReadableSecrets,
  whyInReach,
  whyLoginShown,
  whyNotUncontained,
  whyUncovered,
} from './open/sandbox-settings.ts';
import { renaming, verifyPlaceOf } from './open/verify-place.ts';
import { interruptedOutcome, type Ready, type Stopped, stopped } from './ready.ts';
import { changeLimits } from './run-limits.ts';
import type { Admitted, BegunTaking, Located, RunSpec, TakenRun } from './run-spec.ts';
import type { Session } from './session.ts';

/** Stops with an outcome at the first stage that refuses. Everything opened by then is closed. */
export async function openRun(session: Session, spec: RunSpec): Promise<Ready | Stopped> {
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

async function openInOrder(session: Session, spec: RunSpec, closing: Closing): Promise<Ready | Stopped> {
  const located = await locateRun(session, (one) => spec.locate(one));
  if (located.status === 'stopped') return located;
  const { checkout, directory } = located;
  const admitted = await located.admit();
  if (admitted.status === 'stopped') return admitted;
  const { rules, tools, verify } = admitted;
  const { shownAs = checkout.root } = admitted.sandbox;
  const begun = await admitted.begin({
    shadowDir: directory.shadowGit,
    sandboxGitDir: directory.sandboxGitDir,
    env: session.input.env,
    limits: changeLimits(session, session.limits),
    isReadOnly: forbidsBelow(...rules),
    guard: pathGuard(...rules),
    keepsBase: session.input.settings.keepBase,
  });
  const parts = await openParts(session, { located, admitted, begun, closing });
  if (parts.status === 'stopped') return parts;
  const { provider, sandbox, beside } = parts;
  for (const warning of parts.warnings) session.warn(warning);
  const refusal = whyNotUncontained(session.input.trust, sandbox) ?? admitted.whyNotIn?.(sandbox) ?? null;
  if (refusal !== null) return stopped(refusal);
  warnOfReadableSecrets(session, sandbox);
  const hopeless = (await admitted.whyHopeless?.(sandbox)) ?? null;
  if (hopeless !== null) return stopped(usageError('ERR_PROGRAM_MISSING', hopeless));
  const taken = await take(session, { located, admitted, begun, level: sandbox.level });
  if (taken.status === 'stopped') return taken;
  const { workspace } = taken;
  const { shadowGit: shadowDir, scratch: scratchDir } = directory;
  const place = { ...verify, checkout, workspace, shadowDir, scratchDir, shownAs, beside };
  const permits = pathPolicy(...rules);
  const opened = { provider, sandbox, workspace, permits, verifyPlace: verifyPlaceOf(place) };
  const settled = await taken.settle({ ...opened, own: (close) => closing.own(close) });
  if (settled.status === 'stopped') return settled;
  return {
    provePlace: verifyPlaceOf({ ...place, kind: 'checkout' }),
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
    ...opened,
    forbidsBelow: forbidsBelow(...rules),
    status: 'ready',
    checkout,
    directory,
    close: () => closing.close(),
  };
}

/** The first stage. Several attempts go through it once for all of them, since each then works in a copy. */
export async function locateRun<Place extends Pick<Located, 'status' | 'checkout'>>(
  session: Session,
  locate: (session: Session) => Promise<Place | Stopped>,
): Promise<Place | Stopped> {
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

interface Stages {
  readonly located: Located;
  readonly admitted: Admitted;
  readonly begun: BegunTaking;
}

/** The provider's library loads while the sandbox is being proven. */
async function openParts(
  session: Session,
  { located: { checkout, directory }, admitted, begun, closing }: Stages & { closing: Closing },
) {
  const { mode, hosts, folder, shownAs = checkout.root, onProving } = admitted.sandbox;
  const options = {
    mode,
    root: checkout.root,
    folder,
    shownAs,
    sandboxGitDir: begun.sandboxGitDir,
    scratchDir: directory.scratch,
    ...sandboxSettings(session.input),
    ...(await wantedCaches(session.input, checkout, (one) => session.warn(one))),
    ...(onProving && { onProving }),
  };
  const opening = Promise.all([admitted.openProvider(), openContained(session, { options, hosts, closing })]);
  const both = await raceAbort(admitted.giveUp, opening);
  if (both === null) return stopped(interruptedOutcome(session));
  const [providing, opened] = both;
  if (providing.status === 'failed') return stopped(usageError('ERR_PROVIDER_UNUSABLE', providing.message));
  if (opened.status !== 'ok') return stopped(notOpened(opened));
  const sandbox = renaming(opened.sandbox, shownAs, checkout.root);
  return { ...opened, provider: providing.provider, sandbox };
}

/** A large work tree takes time, and a run that has to stop does not wait for it. */
async function take(
  session: Session,
  { located: { checkout, directory }, admitted, begun, level }: Stages & { level: SandboxLevel },
): Promise<TakenRun | Stopped> {
  const taking = session.progress.during({ label: 'taking a snapshot of the work tree' }, begun.take);
  const taken = await raceAbort(admitted.giveUp, taking);
  if (taken === null) return stopped(interruptedOutcome(session));
  if (taken.status === 'failed') return stopped(usageError('ERR_NO_SNAPSHOT', taken.message));
  session.atEnd(() => disarmSandboxGitDir(checkout, directory));
  const { uncovered = [], nested } = taken.workspace.sandboxGitDir;
  const inReach = nested.filter(({ dotGit }) => dotGit === 'folder' || dotGit === 'itself');
  if (level === 'landlock' && inReach.length + uncovered.length > 0) {
    const folders = [...uncovered, ...inReach.map(({ path }) => path)];
    return stopped(sandboxUnavailable('ERR_SANDBOX_UNCOVERED', whyInReach(folders)));
  }
  return uncovered.length === 0 || session.input.settings.sandbox !== 'required'
    ? taken
    : stopped(sandboxUnavailable('ERR_SANDBOX_UNCOVERED', whyUncovered(uncovered)));
}
