/** Opens the model that a run talks to. */

import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import { createProvider, PROVIDERS, providerNamed } from '../../adapters/providers/registry.ts';
import { ProviderSettingsError } from '../../adapters/providers/settings-error.ts';
import type { Settings } from '../../config/resolve.ts';
import { isPlainHttp } from '../../config/values.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import type { ModelSettings } from '../../domain/run/model-settings.ts';
import type { LlmProvider } from '../../ports.ts';
import { absolutePath, type Session } from '../session.ts';

/** The requested model: from the settings of a new run, from the journal of a resumed one. */
export interface ModelChoice {
  readonly provider: string;
  readonly model: string;
  readonly settings: ModelSettings;
}

/** The model that the settings choose. */
export function modelChoiceOf({ provider, model, ...settings }: Settings): ModelChoice {
  const { effort, maxOutputTokens, verbose, idleTimeoutMs, rateLimitWaitMs, outageWaitMs } = settings;
  const waits = { idleTimeoutMs, rateLimitWaitMs, outageWaitMs };
  return { provider, model, settings: { effort, maxOutputTokens, showThinking: verbose, ...waits } };
}

/** Loads what the first request needs while the process is otherwise idle. */
export function preloadProvider({ input }: Session, { provider }: ModelChoice): void {
  providerNamed(provider, input.providers)?.preload?.();
}

/** An open provider, or why there is none. */
export type Providing = { status: 'ok'; provider: LlmProvider } | Failed;

/**
 * A provider that is never asked, for a check: its settings are examined as for a run, unless there is no key, which whoever checks
 * says.
 */
export async function openUnasked(session: Session, choice: ModelChoice): Promise<Providing> {
  const { apiKey, federation, providers = PROVIDERS } = session.input;
  const needsKey = (providerNamed(choice.provider, providers)?.keyVariable ?? null) !== null;
  const isKeyless = needsKey && apiKey === null && federation === undefined;
  const opened = isKeyless ? null : await openProvider(session, choice);
  if (opened?.status === 'failed') {
    session.stage = 'model';
    return opened;
  }
  const { name, model } = opened?.provider ?? { name: choice.provider, model: choice.model };
  return { status: 'ok', provider: { name, model, complete: refuse } };
}

async function refuse(): Promise<never> {
  throw new Error('A check was about to ask the model.');
}

/** The key, and the address it is sent to, come only from whoever started this process. */
export async function openProvider(session: Session, choice: ModelChoice): Promise<Providing> {
  const { settings, apiKey, federation, cwd, env, now, providers = PROVIDERS } = session.input;
  const { baseUrl, allowInsecureBaseUrl, recording } = settings;
  const plainHttp = baseUrl !== null && isPlainHttp(baseUrl);
  if (plainHttp)
    session.warn(
      `The key and the whole conversation go to ${baseUrl} over plain http, where others on the way can read and change them (--allow-insecure-base-url).`,
    );
  try {
    const given = {
      apiKey,
      ...(federation === undefined ? {} : { federation }),
      model: choice.model,
      ...(baseUrl === null ? {} : { baseUrl, allowInsecureBaseUrl }),
      ...choice.settings,
      fetch: await fetchByEnvironment(env, { plainHttp }),
      clock: now,
      recording: recording === null ? null : absolutePath(cwd, recording),
    };
    const provider = await createProvider(choice.provider, given, providers);
    return { status: 'ok', provider };
  } catch (error) {
    if (error instanceof ProviderSettingsError) return failed(error.message);
    throw error;
  }
}
