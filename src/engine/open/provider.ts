/** Opens the model that a run talks to. */

import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import { createProvider, type ProviderName } from '../../adapters/providers/registry.ts';
import { ProviderSettingsError } from '../../adapters/providers/settings-error.ts';
import type { Settings } from '../../config/resolve.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import type { ModelSettings } from '../../domain/run/model-settings.ts';
import type { LlmProvider } from '../../ports.ts';
import { absolutePath, type Session } from '../session.ts';

/** What is asked for: of a new run by its settings, of a resumed one by its journal. */
export interface ModelChoice {
  readonly provider: ProviderName;
  readonly model: string;
  readonly settings: ModelSettings;
}

export function modelChoiceOf({ provider, model, ...settings }: Settings): ModelChoice {
  const { effort, maxOutputTokens, verbose, idleTimeoutMs } = settings;
  return { provider, model, settings: { effort, maxOutputTokens, showThinking: verbose, idleTimeoutMs } };
}

/** Node loads its HTTP client when one of its classes is first named, and takes 20 ms for that. */
export function loadHttpClient({ provider }: ModelChoice): void {
  if (provider === 'anthropic') void globalThis.Headers;
}

export type Providing = { status: 'ok'; provider: LlmProvider } | Failed;

/** The key, and the address that it is sent to, come from whoever started this process and from nowhere else. */
export async function openProvider({ input }: Session, choice: ModelChoice): Promise<Providing> {
  const { settings, apiKey, federation, cwd } = input;
  const { baseUrl, recording } = settings;
  try {
    const provider = await createProvider(choice.provider, {
      apiKey,
      ...(federation === undefined ? {} : { federation }),
      model: choice.model,
      ...(baseUrl === null ? {} : { baseUrl }),
      ...choice.settings,
      fetch: await fetchByEnvironment(input.env),
      clock: input.now,
      recording: recording === null ? null : absolutePath(cwd, recording),
    });
    return { status: 'ok', provider };
  } catch (error) {
    if (error instanceof ProviderSettingsError) return failed(error.message);
    throw error;
  }
}
