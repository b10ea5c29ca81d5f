/** The providers by name. Each is loaded when it is asked for: start-up time matters. */

import type { LlmProvider } from '../../ports.ts';
import type { AnthropicOptions } from './anthropic.ts';
import { ProviderSettingsError } from './settings-error.ts';

/** What any provider may need; each takes its part. */
export interface ProviderSettings extends AnthropicOptions {
  /** Path of the journal that `replay` plays; null when there is none. */
  readonly recording: string | null;
}

const factories = {
  anthropic: async ({ recording: _, ...options }: ProviderSettings): Promise<LlmProvider> => {
    const { createAnthropicProvider } = await import('./anthropic.ts');
    return createAnthropicProvider(options);
  },
  replay: async ({ recording }: ProviderSettings): Promise<LlmProvider> => {
    if (recording === null) {
      throw new ProviderSettingsError(
        'The replay provider needs a recording: the events.jsonl of an earlier run.',
      );
    }
    const { createReplayProvider, readRecording } = await import('./replay.ts');
    return createReplayProvider(await readRecording(recording));
  },
};

export type ProviderName = keyof typeof factories;

export const providerNames = Object.keys(factories) as ProviderName[];

/** Throws ProviderSettingsError when the settings do not suffice; the message is for the user. */
export function createProvider(name: ProviderName, settings: ProviderSettings): Promise<LlmProvider> {
  return factories[name](settings);
}
