/** The first request of a new run, which may go out while the baseline is still being taken. */

import { providerNamed } from '../../adapters/providers/registry.ts';
import type { Settings } from '../../config/schema.ts';
import { answerTokens } from '../../domain/budget/next-request.ts';
import { windowOf } from '../../domain/compaction/context-window.ts';
import { defaultCompactAt } from '../../domain/compaction/due.ts';
import type { CompactionSettings } from '../../domain/compaction/settings.ts';
import { type Conversation, noUsage } from '../../domain/conversation/conversation.ts';
import type { CommandReport, RunStarted } from '../../domain/run/events.ts';
import { withSpent } from '../../domain/run/fold/bill.ts';
import { costOf, mainPrice, type Price } from '../../domain/run/pricing.ts';
import type { LlmProvider, Sandbox, TurnRequest } from '../../ports.ts';
import { systemPrompt, taskPrompt } from '../../prompts.ts';
import { definitionsOf } from '../../tools/registry.ts';
import { type PrefetchedTurn, prefetchFirstTurn } from '../open/prefetch-first-turn.ts';
import { keptHosts } from '../open/sandbox.ts';
import type { Session } from '../session.ts';
import type { Task } from './task.ts';

/**
 * Sends the first request before the workspace has been taken; null if it exceeds a cap. Its answer is billed even if it is not
 * used.
 */
export function prefetch(
  session: Session,
  provider: LlmProvider,
  conversation: Conversation,
): PrefetchedTurn | null {
  const price = priceIn(session);
  const { maxOutputTokens } = session.input.settings;
  const unspent = {
    usage: noUsage,
    costUsd: 0,
    isEstimated: false,
    counted: null,
    lastTurn: null,
    iterations: 0,
  };
  const spending = { ...unspent, conversation, price, model: provider.model, maxOutputTokens };
  const tokensAfter: TurnRequest['answerTokens'] = (spent) =>
    answerTokens(spent.reduce(withSpent, spending), session.limits);
  // What does not fit is for the loop to say.
  if (tokensAfter([]) === null) return null;
  const ahead = prefetchFirstTurn(provider, { conversation, answerTokens: tokensAfter }, session.interrupt);
  return {
    provider: ahead.provider,
    async cancel() {
      const spent = await ahead.cancel();
      if (spent === null) return null;
      const { usage: tokens, estimated } = spent;
      const costUsd = costOf(provider.model, tokens, price) ?? 'unknown';
      session.record({ provider: provider.name, model: provider.model, tokens, costUsd, estimated });
      return spent;
    },
  };
}

/** The price that was given, or the provider's own; null leaves it to the table. */
export function priceIn({ input: { settings, providers } }: Session): Price | null {
  const { provider, model, price } = settings;
  return mainPrice(price, settings) ?? providerNamed(provider, providers)?.priceOf?.(model) ?? null;
}

/** How the conversation is kept short. */
export function compactionOf({ compaction, compactAt, maxMessages, model }: Settings): CompactionSettings {
  return { strategy: compaction, at: compactAt ?? defaultCompactAt(windowOf(model)), maxMessages };
}

/** What is known about the repository before the first request. */
export interface Orientation {
  readonly orientation: string;
}

/** The hosts that commands reach, by name. */
export function hostsOf(sandbox: Sandbox, settings: Session['input']['settings']): string[] {
  const kept = keptHosts(sandbox, settings);
  return [...kept.allowedDomains, ...kept.allowedPrivate];
}

/** The first request to the model. */
export function firstRequest(
  session: Session,
  task: Task,
  {
    sandbox,
    orientation,
    verifyBaseline = [],
  }: Orientation & { sandbox: Sandbox; verifyBaseline?: readonly CommandReport[] },
): Pick<RunStarted, 'system' | 'tools' | 'prompt'> {
  const { settings } = session.input;
  const { limits } = session;
  return {
    system: systemPrompt({
      sandbox: sandbox.level,
      allowedDomains: hostsOf(sandbox, settings),
    }),
    tools: definitionsOf(task.tools),
    prompt: session.redact(
      taskPrompt({ ...task, limits, verifyIn: settings.verifyIn, verifyBaseline, orientation }),
    ),
  };
}
