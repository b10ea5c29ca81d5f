/** Settles a new run: the merge of a follow-up, the commands before the work, the MCP servers, and the event that begins it. */

import { rmSync } from 'node:fs';
import { providerNamed } from '../../adapters/providers/registry.ts';
import { keepProvisional } from '../../adapters/sinks/journal.ts';
import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import type { Settings } from '../../config/schema.ts';
import { defaultCompactAt, windowOf } from '../../domain/conversation/compaction.ts';
import type { RunStarted } from '../../domain/run/events.ts';
import { JOURNAL_VERSION } from '../../domain/run/limits.ts';
import { done, refused, type Stopped, stopped } from '../../domain/run/outcome.ts';
import { mainPrice } from '../../domain/run/pricing.ts';
import type { Sandbox } from '../../ports.ts';
import { systemPrompt, taskPrompt } from '../../prompts.ts';
import { definitionsOf } from '../../tools/registry.ts';
import { baselinePart, openedPart } from '../finish/result.ts';
import { fallbackOf, type ModelChoice, reviewOf } from '../open/provider.ts';
import { keptHosts } from '../open/sandbox.ts';
import { type RanBefore, runBefore } from '../open/setup-commands.ts';
import {
  NO_SERVERS,
  newRun,
  type OpenedRun,
  type OpenServers,
  type Settled,
  stoppedBefore,
} from '../ready.ts';
import type { Session } from '../session.ts';
import type { Task } from './task.ts';

/** What the last stage of a new run needs of the first ones. */
interface PlacedRun {
  readonly session: Session;
  readonly directory: RunDirectory;
  readonly choice: ModelChoice;
  readonly task: Task;
  /** What is known about the repository before the first request. */
  readonly orientation: string | undefined;
}

/** Commands run here for the first time. A check writes nothing to the checkout. */
export async function settleFresh(place: PlacedRun, opened: OpenedRun): Promise<Settled | Stopped> {
  const { workspace } = opened;
  const { env, isCheck = false, whyNotFrom } = place.session.input;
  const facts = place.task.plan.followUp?.facts;
  if (facts === undefined || facts.merge === null || isCheck) {
    const refusal = whyNotFrom?.(workspace.base()) ?? null;
    if (refusal === null) return settle(place, opened);
    place.session.record(baselinePart(workspace.base()));
    return stopped(refusal);
  }
  const { putMerge } = await import('../continued/merge.ts');
  const { shadowGit: shadowDir } = place.directory;
  const put = await putMerge({ facts: { ...facts, merge: facts.merge }, workspace, shadowDir, env });
  if (put.status === 'failed') return refused('ERR_MERGE_NOT_BEGUN', put.message);
  const settled = await settle(place, opened);
  if (settled.status === 'stopped') await put.takeBack();
  return settled;
}

async function settle(place: PlacedRun, opened: OpenedRun): Promise<Settled | Stopped> {
  const { session, directory, task } = place;
  const { isCheck = false, withoutCommands, settings, version } = session.input;
  const { provider, sandbox, workspace } = opened;
  session.stage = 'setup';
  const known = {
    patchsmith: version,
    ...taskPart(task),
    provider: provider.name,
    model: provider.model,
    sandbox: sandbox.level,
    base: workspace.base(),
  };
  session.progress.banner(known);
  session.recordAndSave(openedPart(known));
  if (withoutCommands) return stopped(READY);
  const { plan, verify, baseline } = task;
  const commands = { setup: plan.setup, verify, baseline: isCheck ? verify : baseline };
  // A process that is killed from here on leaves a journal with which undo knows what was there.
  const begin = (ran: RanBefore, servers: OpenServers = NO_SERVERS): RunStarted => ({
    ...known,
    ...partOfSettings(session, task, servers),
    setup: ran.setup,
    setupChanges: ran.changes ?? [],
    verifyBaseline: ran.verifyBaseline,
    ...unreadyPart(ran, isCheck),
    ...keptHosts(sandbox, settings),
    root: session.input.attempt?.root ?? workspace.root,
    modelSettings: place.choice.settings,
    ...firstRequest(place, { ...task, tools: [...task.tools, ...servers.tools] }, ran, sandbox),
  });
  keepProvisional(directory.events, { ...begin(NOT_RUN), seq: 1, at: session.startedAt }, session.redact);
  const unbegun = (end: Stopped) => {
    rmSync(directory.events);
    return end;
  };
  const ran = await runBefore(
    session,
    { ...commands, timeoutMs: settings.verifyTimeoutMs, reruns: settings.flakyReruns },
    opened,
  );
  if (ran.status === 'interrupted' && ran.changes === null) return stoppedBefore(session, ran);
  const changes = ran.changes ?? [];
  // If there is something to undo, the run has a journal that says so.
  const isAsBefore =
    changes.length === 0 && (ran.status !== 'ok' || isCheck) && (await workspace.settleFiles()) === 0;
  if (ran.status !== 'ok' && isAsBefore) return unbegun(stoppedBefore(session, ran));
  const servers = ran.status === 'ok' ? await opened.openServers() : NO_SERVERS;
  if (servers.status === 'stopped') return unbegun(servers);
  if (isAsBefore) return unbegun(stopped(READY));
  const start = begin(ran, servers);
  return {
    status: 'settled',
    start,
    tools: [...task.tools, ...servers.tools],
    ...servers.ready,
    beginning: newRun(start, session.startedAt, directory, session.redact),
    ...(isCheck && ran.status === 'ok' ? { judge: () => READY } : {}),
  };
}

const NOT_RUN: RanBefore = {
  ...{ status: 'failed', message: 'The run died before its first request.' },
  ...{ setup: [], verifyBaseline: null, changes: [] },
};

/** Why the model is not asked, for a run that has a journal nevertheless. */
function unreadyPart(ran: RanBefore, isCheck: boolean): Pick<RunStarted, 'unready'> {
  if (ran.status === 'failed') return { unready: ran.message };
  return ran.status === 'ok' && isCheck ? { unready: READY.reason } : {};
}

/** The end of a check that found nothing wrong. */
const READY = done('Everything that a run needs before its first request is in place.');

/** What `run.started` records of the plan and the principles. */
export function taskPart({ plan, paths, principles, workingDirectory }: Task) {
  const { title, sha256, source, allow, protect, followUp } = plan;
  return {
    followUp: followUp?.facts ?? null,
    plan: { title, sha256, source, allow: [...allow], protect: [...protect] },
    ...{ paths, workingDirectory },
    principles: principles.map(({ text: _, ...file }) => file),
  };
}

/** What it records of the settings. */
function partOfSettings(
  { runId, limits, input }: Session,
  { verify, toolNames, answer }: Task,
  { recorded }: OpenServers,
) {
  const { settings, providers, ownTools = [] } = input;
  const { provider, model, price, compaction, compactAt } = settings;
  const { acceptSecrets, verifyIn, includeForeign, ifNoChanges, ifDenied } = settings;
  const { maxToolOutput: maxOutputChars, webFetch } = settings;
  const { commandTimeoutMs, maxCommandTimeoutMs, verifyTimeoutMs, flakyReruns, verifyAll } = settings;
  return {
    type: 'run.started',
    journalVersion: JOURNAL_VERSION,
    ...{ runId, limits, verify: [...verify], verifyIn, acceptSecrets, includeForeign, ifNoChanges, ifDenied },
    toolSettings: {
      ...{ maxOutputChars, commandTimeoutMs, maxCommandTimeoutMs, verifyTimeoutMs, flakyReruns, verifyAll },
      tools: toolNames === null ? null : [...toolNames],
      answerSchema: answer?.schema ?? null,
      webFetch,
      serverTools: [...recorded],
      ownTools: ownTools.map(({ name }) => name),
    },
    // The price that was given, or the provider's own; null leaves it to the table.
    price: mainPrice(price, settings) ?? providerNamed(provider, providers)?.priceOf?.(model) ?? null,
    compaction: { strategy: compaction, at: compactAt ?? defaultCompactAt(windowOf(model)) },
    fallback: fallbackOf(settings, providers),
    review: reviewOf(settings, providers),
  } satisfies Partial<RunStarted>;
}

/** The hosts that commands reach, by name. */
export function hostsOf(sandbox: Sandbox, settings: Settings): string[] {
  const kept = keptHosts(sandbox, settings);
  return [...kept.allowedDomains, ...kept.allowedPrivate];
}

/** The first request to the model. */
function firstRequest(
  { session, orientation = '' }: PlacedRun,
  task: Task,
  { verifyBaseline }: RanBefore,
  sandbox: Sandbox,
): Pick<RunStarted, 'system' | 'tools' | 'prompt'> {
  const { limits, redact } = session;
  const { settings } = session.input;
  const { verifyIn } = settings;
  const known = { limits, verifyIn, verifyBaseline: verifyBaseline ?? [], orientation };
  return {
    system: systemPrompt({
      sandbox: sandbox.level,
      allowedDomains: hostsOf(sandbox, settings),
      services: keptHosts(sandbox, settings).services,
    }),
    tools: definitionsOf(task.tools),
    prompt: redact(taskPrompt({ ...task, ...known })),
  };
}
