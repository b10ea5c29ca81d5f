/** Settles a new run: the merge of a follow-up, the commands before the work, the MCP servers, and the event that begins it. */

import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import { awaitedBefore } from '../../domain/conversation/awaited.ts';
import type { RunStarted } from '../../domain/run/events.ts';
import { done, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { baselinePart, openedPart } from '../finish/result.ts';
import { NO_SERVERS, openServersOf } from '../mcp/open-servers.ts';
import { fallbackOf, type ModelChoice, type Providing, reviewOf } from '../open/provider.ts';
import { keptHosts } from '../open/sandbox.ts';
import { type CommandsBefore, type RanBefore, runBefore } from '../open/setup-commands.ts';
import { interruptedOutcome, newRun, type Stopped, stopped } from '../ready.ts';
import type { OpenedRun, Settled, TakenWorkspace } from '../run-spec.ts';
import type { Session } from '../session.ts';
import { compactionOf, firstRequest, type Orientation } from './first-request.ts';
import { settledPart, taskPart } from './started-parts.ts';
import type { Task } from './task.ts';

/** The requested model, whose library loads while git runs. Anything wrong with it is reported in due order. */
interface RequestedModel {
  readonly choice: ModelChoice;
  readonly providing: Promise<Providing>;
}

/** What every stage of a new run after the first one needs. */
export interface PlacedRun {
  readonly session: Session;
  readonly checkout: Checkout;
  readonly directory: RunDirectory;
  readonly model: RequestedModel;
}

/** Commands run here for the first time. A check writes nothing to the checkout. */
export async function settleFresh(
  place: PlacedRun,
  task: Task,
  opened: OpenedRun<TakenWorkspace> & Orientation,
): Promise<Settled | Stopped> {
  const { env, isCheck = false, whyNotFrom } = place.session.input;
  const facts = task.plan.followUp?.facts;
  if (facts === undefined || facts.merge === null || isCheck) {
    const base = opened.taken.workspace.base();
    const refusal = whyNotFrom?.(base) ?? null;
    if (refusal === null) return settle(place, task, opened);
    place.session.record(baselinePart(base));
    return stopped(refusal);
  }
  const { putMerge } = await import('../continued/merge.ts');
  const { workspace } = opened.taken;
  const { shadowGit: shadowDir } = place.directory;
  const put = await putMerge({ facts: { ...facts, merge: facts.merge }, workspace, shadowDir, env });
  if (put.status === 'failed') return stopped(usageError('ERR_MERGE_NOT_BEGUN', put.message));
  const settled = await settle(place, task, opened);
  if (settled.status === 'stopped') await put.takeBack();
  return settled;
}

async function settle(
  place: PlacedRun,
  task: Task,
  opened: OpenedRun<TakenWorkspace> & Orientation,
): Promise<Settled | Stopped> {
  const { session, directory } = place;
  const { isCheck = false } = session.input;
  const { provider, sandbox, verifyPlace, own } = opened;
  const { workspace } = opened.taken;
  session.stage = 'setup';
  const known = {
    patchsmith: session.input.version,
    ...taskPart(task),
    provider: provider.name,
    model: provider.model,
    sandbox: sandbox.level,
    base: workspace.base(),
  };
  session.progress.banner(known);
  session.recordAndSave(openedPart(known));
  const commands = commandsBefore(session, task);
  const ran = await runBefore(session, commands, { workspace, sandbox, verifyPlace });
  const { changes } = ran;
  if (changes === null)
    return stopped(interruptedOutcome(session, { unknown: NOT_LOOKED_AT, awaited: awaitedBefore(ran) }));
  // If there is something to undo, the run has a journal that says so.
  const isUnchanged = changes.length === 0;
  const ended = isUnchanged ? endedBefore(session, ran) : null;
  if (ended !== null) return stopped(ended);
  const places = { sandbox, scratchDir: directory.scratch, root: workspace.root, own };
  const servers = ran.status === 'ok' ? await openServersOf(session, places) : NO_SERVERS;
  if (servers.status === 'stopped') return servers;
  if (isCheck && isUnchanged) return stopped(READY);
  const equipped = { ...task, tools: [...task.tools, ...servers.tools] };
  const start: RunStarted = {
    ...known,
    ...settledPart(session, task, { ...ran, changes }, servers.recorded),
    ...unreadyPart(ran, isCheck),
    ...firstConversation(place, equipped, ran, opened),
  };
  return {
    status: 'settled',
    start,
    tools: equipped.tools,
    servers: servers.used,
    restServers: servers.rest,
    sinks: [servers.counter],
    beginning: newRun(start, session.startedAt, directory, session.redact),
    ...(isCheck && ran.status === 'ok' ? { judge: () => READY } : {}),
  };
}

function commandsBefore(
  { input: { settings, isCheck = false } }: Session,
  { plan, verify, baseline }: Task,
): CommandsBefore {
  return {
    setup: plan.setup,
    verify,
    baseline: isCheck ? verify : baseline,
    timeoutMs: settings.verifyTimeoutMs,
  };
}

/** The end of a run whose commands before the work failed; null if they succeeded. */
function endedBefore(session: Session, ran: RanBefore): RunOutcome | null {
  switch (ran.status) {
    case 'ok':
      return null;
    case 'interrupted':
      return interruptedOutcome(session, { awaited: awaitedBefore(ran) });
    case 'failed':
      return usageError('ERR_SETUP_FAILED', ran.message);
  }
}

/** Why the model is not asked, for a run that has a journal nevertheless. */
function unreadyPart(ran: RanBefore, isCheck: boolean): Pick<RunStarted, 'unready'> {
  if (ran.status === 'failed') return { unready: ran.message };
  return ran.status === 'ok' && isCheck ? { unready: READY.reason } : {};
}

/** Which models are asked, and with what. */
function firstConversation(
  { session, model }: PlacedRun,
  equipped: Task,
  { verifyBaseline }: RanBefore,
  { sandbox, taken: { workspace }, orientation }: OpenedRun<TakenWorkspace> & Orientation,
) {
  const { settings, attempt, providers } = session.input;
  return {
    ...keptHosts(sandbox, settings),
    root: attempt?.root ?? workspace.root,
    modelSettings: model.choice.settings,
    compaction: compactionOf(settings),
    fallback: fallbackOf(settings, providers),
    review: reviewOf(settings, providers),
    ...firstRequest(session, equipped, { sandbox, orientation, verifyBaseline: verifyBaseline ?? [] }),
  };
}

/** A run that was stopped during setup. */
const NOT_LOOKED_AT = 'what setup commands changed was not looked at: see git status';

/** The end of a check that found nothing wrong. */
const READY = done('Everything that a run needs before its first request is in place.');
