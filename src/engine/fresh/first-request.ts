/** The first request of a new run. */

import { providerNamed } from '../../adapters/providers/registry.ts';
import type { Settings } from '../../config/schema.ts';
import { type CompactionSettings, windowOf } from '../../domain/compaction/compaction.ts';
import { defaultCompactAt } from '../../domain/compaction/due.ts';
import type { CommandReport, RunStarted } from '../../domain/run/events.ts';
import { mainPrice, type Price } from '../../domain/run/pricing.ts';
import type { Sandbox } from '../../ports.ts';
import { systemPrompt, taskPrompt } from '../../prompts.ts';
import { definitionsOf } from '../../tools/registry.ts';
import { keptHosts } from '../open/sandbox.ts';
import type { Session } from '../session.ts';
import type { Task } from './task.ts';

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
