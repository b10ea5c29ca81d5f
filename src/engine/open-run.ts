/**
 * The one way to open a run, be it new, resumed or replayed. `Admit` supplies what differs; the order is always:
 *
 *     admit    the checkout and the run directory; the account that triggered the run may do so, and the task is known
 *     open     the provider and the sandbox, side by side, while a new run looks at the work tree
 *     refuse   what is not contained: nothing has been run yet, and nothing written to the checkout
 *     take     the workspace, as the baseline or as the run left it
 *     settle   the commands that run before the work
 */

import { obstacleTo } from '../adapters/storage/patch-file.ts';
import { whyReadOnly } from '../adapters/workspace/find-checkout.ts';
import { absolutePath } from '../domain/changes/path.ts';
import { forbidsBelow, pathGuard, pathPolicy } from '../domain/changes/path-policy.ts';
import type { ServerTool } from '../domain/mcp/chosen-tools.ts';
import type { SandboxLevel } from '../domain/run/events.ts';
import { refused, type Stopped, sandboxUnavailable, stopped } from '../domain/run/outcome.ts';
import { listed } from '../domain/text/words.ts';
import type { Checkout } from '../git/checkout-layout.ts';
import { raceAbort } from '../host/deadline.ts';
import type { SandboxGitDir } from '../ports/workspace.ts';
import type { ServerPlaces } from './mcp/reach-server.ts';
import { Closing, openContained } from './open/sandbox.ts';
import {
  mountedLinks,
  notOpened,
  sandboxSettings,
  wantedCaches,
  warnOfReadableSecrets,
  whyLedAstray,
  whyLoginShown,
  whyNotUncontained,
  whyOwnProgramShown,
} from './open/sandbox-settings.ts';
import { renaming, verifyPlaceOf } from './open/verify-place.ts';
import {
  type Admit,
  type Admitted,
  interruptedOutcome,
  NO_SERVERS,
  type OpenedRun,
  type OpenServers,
  type Ready,
} from './ready.ts';
import { changeLimits } from './run-limits.ts';
import type { Session } from './session.ts';

/** Stops with an outcome at the first stage that refuses. Everything opened by then is closed. */
export async function openRun(session: Session, admit: Admit): Promise<Ready | Stopped> {
  const closing = new Closing((failure) =>
    session.warn('WARN_LEFT_BEHIND', `The sandbox could not clean up: ${failure}.`),
  );
  try {
    const opened = await openInOrder(session, admit, closing);
    if (opened.status === 'stopped') await closing.close();
    return opened;
  } catch (error) {
    await closing.close();
    throw error;
  }
}

async function openInOrder(session: Session, admit: Admit, closing: Closing): Promise<Ready | Stopped> {
  const admitted = await admit(session);
  if (admitted.status === 'stopped') return admitted;
  const { checkout, directory, rules, tools, verify } = admitted;
  const { shownAs = checkout.root } = admitted.sandbox;
  const begun = await admitted.begin({
    shadowDir: directory.shadowGit,
    sandboxGitDir: directory.sandboxGitDir,
    env: session.input.env,
    limits: changeLimits(session.input.settings, session.limits),
    isReadOnly: forbidsBelow(...rules),
    guard: pathGuard(...rules),
    keepsBase: session.input.settings.keepBase,
  });
  const parts = await openParts(session, admitted, { sandboxGitDir: begun.sandboxGitDir, closing });
  if (parts.status === 'stopped') return parts;
  const { provider, sandbox, beside } = parts;
  for (const warning of parts.warnings) session.warnOf(warning);
  const refusal =
    whyNotUncontained(session.input.trust, sandbox) ?? (await admitted.whyNotIn?.(sandbox)) ?? null;
  if (refusal !== null) return stopped(refusal);
  warnOfReadableSecrets(session, sandbox);
  const taken = await take(session, () => begun.take(), sandbox.level);
  if (taken.status === 'stopped') return taken;
  if (sandbox.level !== 'none') session.mountedLinks = await mountedLinks(session);
  const { workspace } = taken;
  const { shadowGit: shadowDir, scratch: scratchDir } = directory;
  const place = { ...verify, checkout, workspace, shadowDir, scratchDir, shownAs, beside };
  const permits = pathPolicy(...rules);
  const opened = { provider, sandbox, workspace, permits, verifyPlace: verifyPlaceOf(place) };
  const own = (close: () => unknown) => closing.own(close);
  const places = { sandbox, scratchDir, root: workspace.root, own };
  const openServers: OpenedRun['openServers'] = (recorded) => openServersOf(session, places, recorded);
  const settled = await admitted.settle({ ...opened, openServers }, taken);
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
    ...settled,
    ...opened,
    forbidsBelow: forbidsBelow(...rules),
    status: 'ready',
    checkout,
    directory,
    close: () => closing.close(),
  };
}

/** Stops a run where a path that it uses must not be where it is; null if all of them may. */
export function whyMisplaced({ input }: Session, { root }: Checkout): Stopped | null {
  const { settings, cwd } = input;
  const patch = settings.patch === null ? null : absolutePath(cwd, settings.patch);
  const obstacle =
    patch === null ? null : (obstacleTo(patch) ?? whyLedAstray(root, sandboxSettings(input), patch));
  const unwritable = obstacle ?? (settings.preflight === 'off' ? null : whyReadOnly(root));
  if (unwritable !== null) return refused('ERR_UNWRITABLE', unwritable);
  const own = whyOwnProgramShown(root, sandboxSettings(input));
  if (own !== null) return refused('ERR_OWN_PROGRAM', own);
  const login = whyLoginShown(root, input);
  return login === null ? null : refused('ERR_LOGIN_IN_TREE', login);
}

/** Even after the deadline a resumed run has to find out what it left behind. */
function endOfWaiting({ isResumed, input, interrupt }: Session): AbortSignal {
  return isResumed ? input.interrupt : interrupt;
}

/** The provider's library loads while the sandbox is being proven. */
async function openParts(
  session: Session,
  { checkout, directory, sandbox: wanted, openProvider }: Admitted,
  { sandboxGitDir, closing }: { sandboxGitDir: SandboxGitDir; closing: Closing },
) {
  const { mode, hosts, folder, shownAs = checkout.root, onProving } = wanted;
  const options = {
    mode,
    root: checkout.root,
    folder,
    shownAs,
    sandboxGitDir,
    scratchDir: directory.scratch,
    ...sandboxSettings(session.input),
    ...(await wantedCaches(session.input, checkout, (one) => session.warnOf(one))),
    ...(onProving && { onProving }),
  };
  const opening = Promise.all([openProvider(), openContained(session, { options, hosts, closing })]);
  const both = await raceAbort(endOfWaiting(session), opening);
  if (both === null) return stopped(interruptedOutcome(session));
  const [providing, opened] = both;
  if (providing.status === 'failed') return refused('ERR_PROVIDER_UNUSABLE', providing.message);
  if (opened.status !== 'ok') return stopped(notOpened(opened));
  const sandbox = renaming(opened.sandbox, shownAs, checkout.root);
  return { ...opened, provider: providing.provider, sandbox };
}

/** A large work tree takes time, and a run that has to stop does not wait for it. */
async function take(
  session: Session,
  work: Awaited<ReturnType<Admitted['begin']>>['take'],
  level: SandboxLevel,
) {
  const taking = session.progress.during({ label: 'taking a snapshot of the work tree' }, work);
  const taken = await raceAbort(endOfWaiting(session), taking);
  if (taken === null) return stopped(interruptedOutcome(session));
  if (taken.status === 'failed') return refused('ERR_NO_SNAPSHOT', taken.message);
  const { uncovered = [], nested } = taken.workspace.sandboxGitDir;
  const inReach = nested.filter(({ dotGit }) => dotGit === 'folder' || dotGit === 'itself');
  if (level === 'landlock' && inReach.length + uncovered.length > 0) {
    const folders = [...uncovered, ...inReach.map(({ path }) => path)];
    const named = listed(
      folders.map((folder) => JSON.stringify(folder)),
      3,
    );
    return stopped(
      sandboxUnavailable(
        'ERR_SANDBOX_UNCOVERED',
        `Landlock cannot hide the git dir in ${named} from commands. Move it out of the work tree: for a submodule with git submodule absorbgitdirs.`,
      ),
    );
  }
  if (uncovered.length === 0 || session.input.settings.sandbox !== 'required') return taken;
  const named = listed(
    uncovered.map((folder) => JSON.stringify(`${folder}/.git`)),
    1,
  );
  return stopped(
    sandboxUnavailable(
      'ERR_SANDBOX_UNCOVERED',
      `${named} cannot be hidden from commands: it is a link, has a name that is not UTF-8, leads to a place in the work tree that is missing or behind a link, or is beyond the first 64 repositories in the work tree. Move it out of the work tree, or accept that with --sandbox auto.`,
    ),
  );
}

/**
 * Connects to all MCP servers at the same time; only where there are any, the code for that is loaded. Stops if a required one is not available; for others there is a warning. A resumed run has
 * the tools that are `recorded`, whatever the servers offer now.
 */
async function openServersOf(
  session: Session,
  places: ServerPlaces,
  recorded: readonly ServerTool[] | null = null,
): Promise<OpenServers | Stopped> {
  const entries = Object.entries(session.input.servers ?? {});
  if ((recorded ?? entries).length === 0) return NO_SERVERS;
  const { openAll } = await import('./mcp/servers.ts');
  return openAll(session, places, entries, recorded);
}
