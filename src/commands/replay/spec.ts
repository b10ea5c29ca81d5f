/** How a replay begins: with the journal of a run, and a fresh copy of the tree that it began with. */

import { isAbsolute, normalize } from 'node:path';
import { createProvider } from '../../adapters/providers/registry.ts';
import { readJournal } from '../../adapters/storage/read-journal.ts';
import { type RunDirectory, readResult } from '../../adapters/storage/run-directory.ts';
import { sameBytes } from '../../adapters/storage/same-bytes.ts';
import {
  copyBase,
  disarmSandboxGitDir,
  findCheckout,
  openWorkspace,
} from '../../adapters/workspace/find-checkout.ts';
import { openRestorer } from '../../adapters/workspace/restore/restore.ts';
import { runCommands } from '../../agent/verification.ts';
import { forbidsBelow, pathPolicy } from '../../domain/changes/path-policy.ts';
import { describeDivergence } from '../../domain/journal/divergence.ts';
import { isCovered } from '../../domain/review/allowed-domain.ts';
import type { RunEvent, RunStarted } from '../../domain/run/events.ts';
import { done, type RunOutcome, usageError, verifyFailed } from '../../domain/run/outcome.ts';
import { pluralize } from '../../domain/text/pluralize.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { openContained } from '../../engine/open/sandbox.ts';
import { notOpened, sandboxSettings } from '../../engine/open/sandbox-settings.ts';
import { baselineIn } from '../../engine/open/setup-commands.ts';
import { renaming, verifyPlaceOf } from '../../engine/open/verify-place.ts';
import { newRun, type Ready, type Stopped } from '../../engine/ready.ts';
import { changeLimits, type Session } from '../../engine/session.ts';
import { openKeptObjects } from '../../git/kept-objects.ts';
import type { ProvenPatch } from '../../ports.ts';
import { createTools } from '../../tools/registry.ts';
import { ReplayTracker } from './tracker.ts';
import { replayWorkspace } from './workspace.ts';

export interface ReplayPlaces {
  /** The run that is played again; it is only read. */
  readonly run: RunDirectory;
  /** An empty folder for the copy of the base. */
  readonly folder: string;
  /** Where the git dir is made that its objects are read through. */
  readonly objectsGitDir: string;
}

/** Commands of a journal are as foreign as those of a model, so they run in the sandbox unless it is switched off. */
export async function prepareReplay(
  session: Session,
  { run, folder, objectsGitDir }: ReplayPlaces,
): Promise<Ready | Stopped> {
  const problem = await session.makeDirectory(folder);
  const { directory } = session;
  if (problem !== null || directory === null) return stopped(usageError(problem ?? ''));
  const read = readJournal(run.events);
  if (read.status === 'failed') return stopped(usageError(read.message));
  const { events } = read;
  const [recorded] = events;
  if (events.at(-1)?.type !== 'run.stopped') {
    return stopped(
      usageError(
        `The run ${recorded.runId} was not finished: its journal ends with event ${events.length}.${whyUnfinished(run)}`,
      ),
    );
  }
  if (events.some(({ type }) => type === 'run.resumed')) {
    return stopped(
      usageError(
        `The run ${recorded.runId} was killed and resumed, and a replay cannot be killed at the same moment. Its patch, proven when the run ended, is ${run.patch}.`,
      ),
    );
  }
  const { base, root } = recorded;
  if (!isPlaceForCopy(root))
    return stopped(
      usageError(`The run claims to have worked in ${JSON.stringify(root)}, where no checkout can be.`),
    );
  const { shadowGit: shadowDir } = run;
  const { objectFormat } = base;
  openKeptObjects({ shadowDir, objectFormat, objects: null, gitDir: objectsGitDir });
  const copied = await copyBase({ shadowDir, objectsGitDir, base, folder });
  if (copied !== null) return stopped(usageError(`The base of the run cannot be restored: ${copied}.`));
  const found = await findCheckout(folder, NO_USER);
  if (found.status === 'failed') return stopped(usageError(found.message));
  const opened = await openWorkspace(found.checkout, {
    shadowDir: directory.shadowGit,
    agentGitDir: directory.agentGit,
    env: NO_USER,
    limits: changeLimits(session, recorded.limits),
  });
  session.atEnd(() => disarmSandboxGitDir(found.checkout, directory));
  const allowedDomains = permittedDomains(session, recorded);
  const sandboxed = await openContained(
    session,
    {
      mode: session.input.settings.sandbox === 'off' ? 'off' : 'required',
      root: folder,
      shownAs: recorded.root,
      agentGit: opened.agentGit,
      scratchDir: directory.scratch,
      ...sandboxSettings(session.input),
    },
    allowedDomains,
  );
  if (sandboxed.status !== 'ok') return stopped(notOpened(sandboxed));
  for (const warning of sandboxed.warnings) session.warn(warning);

  // Whatever tells where the copy is tells where the work tree was.
  const redact = (text: string) => session.redact(text.replaceAll(folder, recorded.root));
  const stop = new AbortController();
  const interrupt = AbortSignal.any([session.interrupt, stop.signal]);
  const follower = new ReplayTracker(events, redact, stop);
  const restorer = await openRestorer({ root: folder, shadowDir, objectsGitDir });
  const workspace = replayWorkspace(opened, follower, restorer);
  const sandbox = renaming(sandboxed.sandbox, recorded.root, folder);
  const timeoutMs = recorded.toolSettings.verifyTimeoutMs;
  const commands = recorded.setup.map(({ command }) => command);
  const parts = { sandbox, redact, timeoutMs };
  const setup = await runCommands(commands, session.interrupt, parts);
  const baseline = recorded.verifyBaseline?.map(({ command }) => command) ?? null;
  const verifyPlace = verifyPlaceOf({
    kind: recorded.verifyIn,
    setup: commands,
    checkout: found.checkout,
    workspace,
    shadowDir: directory.shadowGit,
    scratchDir: directory.scratch,
    shownAs: recorded.root,
    beside: sandboxed.beside,
  });
  const verifyBaseline = baseline && (await baselineIn(verifyPlace, baseline, parts, session.interrupt));
  const anyRan = setup.length > 0 || (baseline?.length ?? 0) > 0;
  const setupChanges = anyRan ? await opened.capture('after_commands') : [];
  const start: RunStarted = {
    ...recorded,
    runId: session.runId,
    patchsmith: session.input.version,
    provider: 'replay',
    sandbox: sandbox.level,
    base: { ...opened.base(), commit: base.commit, dirty: base.dirty },
    allowedDomains,
    setup,
    verifyBaseline,
    setupChanges,
  };
  return {
    status: 'ready',
    directory,
    start,
    beginning: newRun(start, recorded.at, directory, redact),
    provider: await createProvider('replay', { ...NO_MODEL, model: recorded.model, recording: run.events }),
    workspace,
    sandbox,
    verifyPlace,
    tools: createTools(recorded.toolSettings),
    permits: pathPolicy(recorded.plan, recorded.paths),
    forbidsBelow: forbidsBelow(recorded.plan, recorded.paths),
    clock: follower.clock,
    interrupt,
    interruptOf: (call) => (follower.cutsShort(call.id) ? interrupt : session.interrupt),
    redact,
    sinks: [follower],
    judge: (decided, patch) => judge(decided, patch, { run, events, follower, signal: session.interrupt }),
  };
}

/** The recording can ask for hosts, and only the caller can permit them. */
function permittedDomains(session: Session, { allowedDomains }: RunStarted): string[] {
  const { allowedDomains: permitted } = session.input.settings;
  const missing = allowedDomains.filter((entry) => !isCovered(entry, permitted));
  if (missing.length > 0)
    session.warn(
      `The recorded run could reach ${missing.join(', ')}, and this replay cannot. Permit it with ${missing.map((entry) => `--allow-domain '${entry}'`).join(' ')}.`,
    );
  return allowedDomains.filter((entry) => !missing.includes(entry));
}

/** Commands see the copy there. The rest of what they see is of this machine, which a recording has no say in. */
function isPlaceForCopy(root: string): boolean {
  return isAbsolute(root) && normalize(root) === root && !/\0|^\/(?:$|(?:proc|dev|sys)(?:\/|$))/.test(root);
}

/** The copy is nobody's: no configuration of a user or machine applies to it. */
const NO_USER = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };

/** What a provider needs that asks nobody. */
const NO_MODEL = { apiKey: null, maxOutputTokens: 1, effort: null, showThinking: false } as const;

interface Verdict {
  readonly run: RunDirectory;
  readonly events: readonly RunEvent[];
  readonly follower: ReplayTracker;
  readonly signal: AbortSignal;
}

/** A replay has done its work when it has gone the recorded way to the recorded patch, whatever the run's outcome was. */
function judge(
  decided: RunOutcome,
  patch: ProvenPatch | null,
  { run, events, follower, signal }: Verdict,
): RunOutcome {
  if (signal.aborted || decided.name === 'publish_failed') return decided;
  const [first, ...more] = follower.divergences();
  const same = sameBytes(run.patch, patch?.bytes ?? null);
  if (first) {
    const others =
      more.length > 0
        ? ` ${pluralize(more.length, 'more event')} ${more.length === 1 ? 'differs' : 'differ'} too.`
        : '';
    const both = same ? 'The patch is the same.' : 'The patch differs.';
    return verifyFailed(`The replay diverges at ${describeDivergence(first)}.${others} ${both}`);
  }
  if (!same) {
    return verifyFailed(`The replay followed the recording but made a different patch than ${run.patch}.`);
  }
  const bytes = patch?.bytes.length ?? 0;
  return done(
    `${pluralize(events.length, 'event')} replayed to the same patch, byte for byte (${pluralize(bytes, 'byte')}).`,
  );
}

function stopped(outcome: RunOutcome): Stopped {
  return { status: 'stopped', outcome };
}

/** A sentence with a space before it; empty where the result does not say. */
function whyUnfinished(run: RunDirectory): string {
  const result = readResult(run);
  if (result?.status === 'running') return ' A process is still running it.';
  return result?.outcome === 'internal_error' ? ` ${oneLine(result.reason, 2_000)}` : '';
}
