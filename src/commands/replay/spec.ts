/** How a replay begins: with the journal of a run, and a fresh copy of the tree that it began with. */

import { createProvider } from '../../adapters/providers/registry.ts';
import { readJournal } from '../../adapters/storage/read-journal.ts';
import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { beginWorkspace, type TakenWorkspace } from '../../adapters/workspace/open.ts';
import { openRestorer } from '../../adapters/workspace/restore/restore.ts';
import { runCommands } from '../../agent/verification.ts';
import { type Permitted, permittedToday } from '../../domain/review/reachable.ts';
import type { RunEvents, RunStarted } from '../../domain/run/events.ts';
import { refused, type Stopped } from '../../domain/run/outcome.ts';
import type { Providing } from '../../engine/open/provider.ts';
import { keptHosts } from '../../engine/open/sandbox.ts';
import { baselineIn, forSetup } from '../../engine/open/setup-commands.ts';
import { recordedTools } from '../../engine/open/tools.ts';
import { whyMisplaced } from '../../engine/open-run.ts';
import { type Admit, type Admitted, newRun, type OpenedRun } from '../../engine/ready.ts';
import { changeLimits } from '../../engine/run-limits.ts';
import type { Session } from '../../engine/session.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import type { Workspace } from '../../ports/workspace.ts';
import { bringIgnored, copyBaseOf, judgeReplay, whyNotReplayable } from './recording.ts';
import { ReplayTracker, replayWorkspace } from './tracker.ts';

/** Which run is replayed, and where. */
interface ReplayPlaces {
  /** The run to replay; it is only read. */
  readonly run: RunDirectory;
  /** An empty folder for the copy of the base. */
  readonly folder: string;
  /** Where to create the git dir through which its objects are read. */
  readonly objectsGitDir: string;
}

/** A journal's commands are as untrusted as a model's, so they run in the sandbox unless it is switched off. */
export function replayedRun(places: ReplayPlaces): Admit {
  return async (session) => {
    const located = await locate(session, places);
    return located.status === 'stopped' ? located : admit(located);
  };
}

/** What all stages after the first know. */
interface Replay extends ReplayPlaces {
  readonly status: 'ok';
  readonly session: Session;
  readonly directory: RunDirectory;
  readonly checkout: Checkout;
  readonly events: RunEvents;
  /** The ignored folders that were copied. */
  readonly ignored: readonly string[];
}

async function locate(session: Session, places: ReplayPlaces): Promise<Replay | Stopped> {
  const { run, folder, objectsGitDir } = places;
  const problem = await session.makeDirectory(folder);
  const { directory } = session;
  if (problem !== null || directory === null) return refused('ERR_RUN_DIRECTORY', problem ?? '');
  const read = await readJournal(run.events);
  if (read.status === 'failed') return refused('ERR_JOURNAL_UNREADABLE', read.message);
  const obstacle = whyNotReplayable(run, read.events);
  if (obstacle !== null) return refused('ERR_NOT_REPLAYABLE', obstacle);
  const { events } = read;
  const missing = await copyBaseOf(session, { run, start: events[0], folder, objectsGitDir });
  if (missing !== null) return refused('ERR_NOT_REPLAYABLE', missing);
  const ignored = await bringIgnored(session, folder);
  const found = await findCheckout(folder, NO_USER);
  if (found.status === 'failed') return refused('ERR_NO_CHECKOUT', found.message);
  const { checkout } = found;
  return (
    whyMisplaced(session, checkout) ?? {
      status: 'ok',
      ...places,
      session,
      directory,
      checkout,
      events,
      ignored,
    }
  );
}

async function admit(replay: Replay): Promise<Admitted<TakenWorkspace & { plain: Workspace }> | Stopped> {
  const { session, run, folder, events, ignored } = replay;
  const [recorded] = events;
  const made = await recordedTools(session, recorded);
  if (made.status === 'failed') return refused('ERR_RECORDED_TOOLS', made.message);
  const hosts = permittedHosts(session, recorded);
  // Anything that names the location of the copy is shown as that of the work tree.
  const redact = (text: string) => session.redact(text.replaceAll(folder, recorded.root));
  const stop = new AbortController();
  const outside = made.tools.filter(({ isOutside }) => isOutside === true);
  const tracker = new ReplayTracker(events, {
    redact,
    stop,
    outside: new Set(outside.map(({ name }) => name)),
  });
  return {
    status: 'ok',
    checkout: replay.checkout,
    directory: replay.directory,
    tools: made.tools,
    rules: [recorded.plan, recorded.paths],
    sandbox: {
      mode: session.input.settings.sandbox === 'off' ? 'off' : 'required',
      folder: recorded.workingDirectory,
      shownAs: recorded.root,
      hosts,
    },
    verify: { kind: recorded.verifyIn, setup: recorded.setup.map(({ command }) => command) },
    openProvider: async (): Promise<Providing> => {
      const model = { ...NO_MODEL, model: recorded.model, recording: run.events };
      return { status: 'ok', provider: await createProvider('replay', model) };
    },
    async begin(places) {
      const limits = changeLimits(session.input.settings, recorded.limits);
      const begun = beginWorkspace(replay.checkout, { ...places, env: NO_USER, limits });
      const { objectsGitDir } = replay;
      return {
        ...begun,
        async take() {
          const { workspace: plain } = await begun.take();
          const restorer = openRestorer({ root: folder, shadowDir: run.shadowGit, objectsGitDir });
          return { status: 'ok', workspace: replayWorkspace(plain, tracker, restorer), plain };
        },
      };
    },
    async settle(opened, { plain }) {
      const start = await startOfReplay(replay, { ...opened, workspace: plain, redact, hosts });
      const interrupt = AbortSignal.any([session.interrupt, stop.signal]);
      return {
        status: 'settled',
        start,
        beginning: newRun(start, recorded.at, replay.directory, redact),
        clock: tracker.clock,
        interrupt,
        interruptOf: (call) => (tracker.cutsShort(call.id) ? interrupt : session.interrupt),
        outcomeOf: (call) => tracker.outcomeOf(call),
        redact,
        resumption: () => tracker.resumption(),
        sinks: [tracker],
        judge: (decided, patch) =>
          judgeReplay(decided, patch, { run, events, tracker, signal: session.interrupt, ignored }),
      };
    },
  };
}

interface ReplayStart extends Pick<OpenedRun, 'sandbox' | 'workspace' | 'verifyPlace'> {
  readonly redact: (text: string) => string;
  readonly hosts: Permitted;
}

/** Runs the recorded commands before the work. One that fails now is reported as a difference. */
async function startOfReplay(
  { session, events: [recorded] }: Replay,
  { sandbox, workspace, verifyPlace, redact, hosts }: ReplayStart,
): Promise<RunStarted> {
  const { verifyTimeoutMs: timeoutMs, flakyReruns: reruns } = recorded.toolSettings;
  const parts = { sandbox, redact, timeoutMs };
  const commands = recorded.setup.map(({ command }) => command);
  const setup = await runCommands(commands, session.interrupt, {
    ...parts,
    sandbox: forSetup(sandbox),
    stopsAtFailure: true,
  });
  const baseline = recorded.verifyBaseline?.map(({ command }) => command) ?? null;
  const verifyBaseline =
    baseline && (await baselineIn(verifyPlace, baseline, { ...parts, reruns }, session.interrupt));
  const { commit, dirty } = recorded.base;
  const anyRan = setup.length > 0 || (baseline?.length ?? 0) > 0;
  return {
    ...recorded,
    runId: session.runId,
    replayOf: recorded.runId,
    patchsmith: session.input.version,
    provider: 'replay',
    sandbox: sandbox.level,
    base: { ...workspace.base(), commit, dirty },
    ...keptHosts(sandbox, hosts),
    setup,
    verifyBaseline,
    setupChanges: anyRan ? await workspace.capture('after_commands') : [],
  };
}

/** The recording can request hosts, but only the caller can permit them. */
function permittedHosts(session: Session, recorded: RunStarted): Permitted {
  const { missing, ...hosts } = permittedToday(recorded, session.input.settings);
  if (missing.length > 0) {
    const [names, flags] = [
      missing.map(({ entry }) => entry),
      missing.map(({ flag, entry }) => `${flag} '${entry}'`),
    ];
    session.warn(
      'WARN_REPLAY_HOSTS',
      `The recorded run could reach ${names.join(', ')}, and this replay cannot. Permit it with ${flags.join(' ')}.`,
    );
  }
  return hosts;
}

/** The copy belongs to no user: no configuration of a user or machine applies to it. */
const NO_USER = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };

/** The settings of a provider that sends no requests. */
const NO_MODEL = { apiKey: null, maxOutputTokens: 1, effort: null } as const;
