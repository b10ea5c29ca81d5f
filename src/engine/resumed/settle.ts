/**
 * Settles what a killed run left unfinished: every difference in the work tree is attributed to a cause, and calls get their
 * answers.
 */

import { rmSync } from 'node:fs';
import { reopenJournal } from '../../adapters/sinks/journal.ts';
import { keptFiles } from '../../adapters/workspace/kept/kept-files.ts';
import type { ReopenedWorkspace } from '../../adapters/workspace/reopen.ts';
import { revertChanges } from '../../adapters/workspace/restore/restore.ts';
import { moveBeginning } from '../../adapters/workspace/unwalked/unseen-changes.ts';
import { settleInterrupted } from '../../agent/interrupted-calls.ts';
import { type CommandChanges, enforcePolicy } from '../../agent/policy.ts';
import { type PathChange, sameState } from '../../domain/changes/change.ts';
import { SeenLines } from '../../domain/conversation/seen-files.ts';
import { answeredCalls } from '../../domain/conversation/segments.ts';
import { changesRecorded, workTreeStates } from '../../domain/journal/recorded-changes.ts';
import type { RunAction, RunEvent } from '../../domain/run/events.ts';
import { advance } from '../../domain/run/fold/advance.ts';
import type { StopReason } from '../../domain/run/limits.ts';
import { refused, type Stopped } from '../../domain/run/outcome.ts';
import { listed } from '../../domain/text/words.ts';
import type { Tool } from '../../ports.ts';
import { whyNotRunnable } from '../open/preflight.ts';
import { runBefore } from '../open/setup-commands.ts';
import { type OpenedRun, type Settled, stoppedBefore } from '../ready.ts';
import type { Session } from '../session.ts';
import { type RecordedRun, resumption } from './recorded-run.ts';

/** How to resume a run. */
export interface ResumeOptions {
  /** Accept other people's changes in the work tree as part of the baseline. */
  readonly acceptChanges: boolean;
  /** Why the run stopped, if it is only brought into the checkout and must not continue. Default: it continues. */
  readonly stop?: StopReason;
}

/** What is known after reopening a killed run. */
interface Unsettled extends OpenedRun {
  readonly session: Session;
  readonly run: RecordedRun;
  readonly reopened: ReopenedWorkspace;
  readonly tools: readonly Tool[];
  readonly options: ResumeOptions;
}

/** Attributes every difference in the work tree to a cause, and brings in what another checkout lacks. */
export async function settleResumed(unsettled: Unsettled): Promise<Settled | Stopped> {
  const { session, run, reopened, sandbox, workspace, tools, permits } = unsettled;
  const { acceptChanges, stop } = unsettled.options;
  const { directory, events, state } = run;
  const [start] = events;
  if (start.sandbox === 'none')
    session.warn('WARN_NO_SANDBOX', 'COMMANDS RUN WITHOUT A SANDBOX, as they did when the run began.');
  const { found } = reopened;
  // From another folder, `--repo` names even the run's own checkout. If something is as in the base, it is a fresh one.
  const isOwn = reopened.isHere && !found.some(({ path }) => reopened.asInBase.has(path));
  const isOther = session.input.settings.repo !== null && !isOwn;
  // In another checkout the interrupted work cannot have left a trace.
  const traces = isOther ? [] : found;
  const diedInSetup = events.length === 1 && start.unready !== undefined;
  const settlement = settleInterrupted(state, diedInSetup ? [] : traces, { tools, permits });
  const leftOut = isOther ? null : leftOutOf(run, workspace.root, settlement.foreign);
  const foreign = isOther
    ? found.filter(({ path }) => !reopened.asInBase.has(path))
    : settlement.foreign.filter((change) => !leftOut?.changes.includes(change));
  const others = foreign.length + reopened.planted.length;
  if (others > 0 && !acceptChanges) return refused('ERR_CHANGED_BY_OTHERS', refusalOf(foreign, unsettled));

  const brought: RunAction[] = changesRecorded(diedInSetup ? traces : [], { by: 'setup' }, 0);
  if (isOther) {
    const lacking = found.filter(({ path }) => reopened.asInBase.has(path));
    const put = await transferChanges(session, run, { ...unsettled, lacking });
    if (put.status === 'stopped') return put;
    brought.push(...put.actions);
  }
  // Otherwise the model would find out at the user's expense.
  const missing = state.phase.at === 'ended' ? null : await whyNotRunnable(session, start.verify, sandbox);
  if (missing !== null) return refused('ERR_PROGRAM_MISSING', missing);
  if (others > 0) {
    await workspace.rebase(foreign.filter(({ path }) => !state.changes.hasChanged(path)));
    session.warn('WARN_CHANGES_ACCEPTED', `Accepted into the baseline: ${named(foreign, reopened.planted)}.`);
  }
  for (const changes of leftOut === null ? settlement.made : [...settlement.made, leftOut]) {
    brought.push(...(await enforcePolicy(changes, { workspace, permits })).actions);
  }
  const first: RunEvent = {
    ...resumption(run, state, session.startedAt),
    patchsmith: session.input.version,
    base: workspace.base(),
    accepted: foreign,
  };
  const { serverTools } = start.toolSettings;
  const servers = await unsettled.openServers(serverTools);
  if (servers.status === 'stopped') return servers;
  session.directory = directory;
  session.printName(directory);
  session.input.watcher?.onDirectory(directory);
  const ended: RunAction[] = stop === undefined ? [] : [{ type: 'run.stopped', stop }];
  return {
    status: 'settled',
    start,
    tools: [...tools.filter(({ name }) => !serverTools.some((tool) => tool.name === name)), ...servers.tools],
    ...servers.ready,
    beginning: {
      first,
      state: advance(state, first),
      actions: [...brought, ...settlement.answers, ...ended],
      seen: seenBy(run),
      openJournal() {
        // The result now says that the run continues, and the patch of its earlier end is void.
        rmSync(directory.patch, { force: true });
        return reopenJournal(directory.events, run.journalBytes, session.redact);
      },
    },
  };
}

/** What the results that are still in the conversation show. */
function seenBy({ events, state: { conversation, phase } }: RecordedRun): SeenLines {
  const seen = new SeenLines();
  for (const event of events) {
    if (event.type === 'tool.completed') for (const note of event.seen ?? []) seen.recall(note, event.call);
  }
  const open = phase.at === 'tools' ? phase.calls.map(({ id }) => id) : [];
  if (conversation.segment > 0) seen.forgetAllBut(new Set([...answeredCalls(conversation), ...open]));
  return seen;
}

/** What the run itself left behind when its changes went over a limit, as changes of its last calls; null if there is nothing. */
function leftOutOf(
  { events, state, directory }: RecordedRun,
  root: string,
  found: readonly PathChange[],
): CommandChanges | null {
  if (state.overChanges === null || found.length === 0) return null;
  const kept = keptFiles(root, directory.shadowGit);
  const over = new Map(kept.status === 'ok' ? kept.over.map(({ path, after }) => [path, after]) : []);
  const changes = found.filter(({ path, after }) => {
    const left = over.get(path);
    return left !== undefined && sameState(left, after);
  });
  if (changes.length === 0) return null;
  const last = events.findLast(({ type }) => type === 'tool.started' || type === 'verify.completed');
  const iteration = state.iterations;
  if (last?.type !== 'tool.started') return { changes, source: { by: 'verify' }, iteration };
  const { name } = last.call;
  const calls = events.flatMap((event) =>
    event.type === 'tool.started' && event.iteration === last.iteration && event.call.name === name
      ? [event.call.id]
      : [],
  );
  return { changes, source: { by: 'tool', tool: name, calls }, iteration };
}

function refusalOf(foreign: readonly PathChange[], { session, reopened, run }: Unsettled): string {
  const what = `${reopened.workspace.root} is not as the run left it: ${named(foreign, reopened.planted)}`;
  const isFresh = reopened.planted.length === 0 && foreign.every(({ path }) => reopened.asInBase.has(path));
  const fresh =
    isFresh && session.input.settings.repo === null
      ? `, or name it with --repo ${run.events[0].root} to apply the run's changes to it`
      : '';
  return `${what}. Restore what changed, or accept it into the baseline with --accept-changes${fresh}.`;
}

/** Maximum number of paths named in a sentence. */
const MAX_NAMED = 20;

function named(changes: readonly PathChange[], gitDirs: readonly string[]): string {
  const names = changes.map(({ path, before, after }) => {
    return `${path} (${before === null ? 'new' : after === null ? 'deleted' : 'changed'})`;
  });
  const repositories = gitDirs.map((path) => `${path} (new, and your git would run what it configures)`);
  return listed([...repositories, ...names], MAX_NAMED, 'file');
}

/** The other checkout. */
interface Transfer extends Pick<OpenedRun, 'workspace' | 'sandbox' | 'verifyPlace'> {
  /** How it, being as the base in these paths, differs from the state of the run (`before`). */
  readonly lacking: readonly PathChange[];
}

/**
 * The setup commands run again, since the ignored files they made are missing here; then every recorded change is applied.
 * Anything else that setup commands changed is recorded as unattributed.
 */
async function transferChanges(
  session: Session,
  run: RecordedRun,
  { lacking, ...places }: Transfer,
): Promise<{ status: 'ok'; actions: RunAction[] } | Stopped> {
  const [start] = run.events;
  const { workspace } = places;
  const { root } = workspace;
  const states = workTreeStates(run.events);
  const stores = { root, shadowDir: run.directory.shadowGit };
  const notPut = (failure: string) =>
    refused('ERR_CHANGES_NOT_TRANSFERRED', `The run's changes cannot be applied to ${root}: ${failure}`);
  // A merge is there before its setup commands run, as when the run began.
  const merged = lacking.filter(({ path }) => !states.has(path));
  const unmerged = merged.length === 0 ? null : await revertChanges(stores, merged);
  if (unmerged !== null) return notPut(unmerged);
  if (merged.length > 0) await workspace.capture('all');

  const setup = start.setup.map(({ command }) => command);
  const { verifyTimeoutMs: timeoutMs } = start.toolSettings;
  const ran = await runBefore(session, { setup, verify: [], baseline: null, timeoutMs }, places);
  if (ran.status !== 'ok') return stoppedBefore(session, ran);

  // The ignored files that they have just made are there as they would be before the work.
  moveBeginning(run.directory.shadowGit);
  const wanted = new Map(lacking.map(({ path, before }) => [path, before]));
  for (const { path } of ran.changes) {
    const state = states.get(path);
    if (state !== undefined) wanted.set(path, state);
  }
  const changes = [...wanted].map(([path, before]) => ({ path, before, after: null }));
  const failure = await revertChanges(stores, changes);
  if (failure !== null) return notPut(failure);

  const now = new Map((await workspace.capture('all')).map(({ path, after }) => [path, after]));
  for (const [path, state] of wanted) {
    if (now.has(path) && !sameState(now.get(path) ?? null, state))
      return refused(
        'ERR_CHANGES_NOT_TRANSFERRED',
        `${path} cannot be restored in ${root}: its content reads differently there.`,
      );
  }
  const others = ran.changes.filter(({ path }) => !wanted.has(path));
  return { status: 'ok', actions: changesRecorded(others, { by: 'outside' }, run.state.iterations) };
}
