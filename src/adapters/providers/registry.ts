/**
 * The providers by name, with everything in which they differ: settings, help, keys and `resume` ask here. A new provider is
 * its file, its entry and its test. The code of one is loaded when a run opens it: start-up time matters.
 */

import type { ModelSettings } from '../../domain/run/model-settings.ts';
import type { Price } from '../../domain/run/pricing.ts';
import type { Clock, Federation, LlmProvider } from '../../ports.ts';
import { ProviderSettingsError } from './settings-error.ts';

/** How long is waited for answers; what is left out is the provider's own default. */
type Waits = Partial<Pick<ModelSettings, 'idleTimeoutMs' | 'rateLimitWaitMs' | 'outageWaitMs'>>;

/** What a provider is made from; each takes its part. */
export interface ProviderSettings extends Omit<ModelSettings, keyof Waits>, Waits {
  readonly model: string;
  /** Null for a provider that takes no key, or with a federation. */
  readonly apiKey: string | null;
  readonly federation?: Federation;
  /** Without it the vendor's own. */
  readonly baseUrl?: string;
  /** It may be one of plain http on another host. */
  readonly allowInsecureBaseUrl?: boolean;
  /** The way to it; the platform's own without it. */
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
  /** Path of the journal or script that is played; null when there is none. */
  readonly recording: string | null;
}

/** One provider: what it is called in help texts, what it needs, and how to open it. */
export interface ProviderEntry {
  /** Who answers, in the words of a help text. */
  readonly meaning: string;
  /** The model where none is chosen; null where the provider knows it by itself. */
  readonly defaultModel: string | null;
  /** The variable that holds its key, in the environment or a `.env`; null for a provider that takes none. */
  readonly keyVariable: string | null;
  /** The variable that holds its address; null for a provider that has none. */
  readonly baseUrlVariable: string | null;
  /** How a job can log in without a key; null where it cannot. */
  readonly federation: { readonly audience: string } | null;
  /** Its answers cost money, so that a limit on the cost needs a price. */
  readonly isBilled: boolean;
  /** Prices of models that the built-in table lacks; null for one that is not known here either. */
  readonly priceOf?: (model: string) => Price | null;
  /** A killed run can ask it again. Where answers are recorded, the run is simply run anew. */
  readonly canResume: boolean;
  /** It plays what `--recording` names, and cannot do without. */
  readonly playsRecording: boolean;
  /** Loads what its first request needs, called while the process has nothing else to do. */
  readonly preload?: () => void;
  /** Throws ProviderSettingsError when the settings do not suffice; the message is for the user. */
  create(settings: ProviderSettings): Promise<LlmProvider>;
}

/** Providers by their names, as `--provider` takes them. */
export type ProviderRegistry = Readonly<Record<string, ProviderEntry>>;

/** The one that answers where none is chosen. */
export const DEFAULT_PROVIDER = 'anthropic';

const providers = {
  anthropic: {
    meaning: 'the Claude API',
    defaultModel: 'claude-sonnet-5-5',
    keyVariable: 'ANTHROPIC_API_KEY',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    federation: { audience: 'https://api.anthropic.com' },
    isBilled: true,
    canResume: true,
    playsRecording: false,
    // Node loads its HTTP client when one of its classes is first named, and takes 20 ms for that.
    preload: () => void globalThis.Headers,
    async create({ recording: _, ...options }) {
      const { createAnthropicProvider } = await import('./anthropic.ts');
      return createAnthropicProvider(options);
    },
  },
  replay: {
    meaning: 'a recorded run',
    defaultModel: null,
    keyVariable: null,
    baseUrlVariable: null,
    federation: null,
    isBilled: false,
    canResume: false,
    playsRecording: true,
    async create({ recording }) {
      if (recording === null) {
        throw new ProviderSettingsError(
          'The replay provider needs a recording: the events.jsonl of an earlier run.',
        );
      }
      const { createReplayProvider, readRecording } = await import('./replay.ts');
      return createReplayProvider(await readRecording(recording));
    },
  },
} satisfies ProviderRegistry;

/** All that the program brings. */
export const PROVIDERS: ProviderRegistry = providers;

/** The entry of a name that was parsed or recorded; null for one that is not among them. */
export function providerNamed(name: unknown, among: ProviderRegistry = PROVIDERS): ProviderEntry | null {
  return typeof name === 'string' && Object.hasOwn(among, name) ? (among[name] ?? null) : null;
}

/** The entry for the one that answers where none is chosen. */
export const defaultProvider: ProviderEntry = providers[DEFAULT_PROVIDER];

/**
 * Opens a provider by name. Throws ProviderSettingsError when there is none of that name, or when the settings do not suffice;
 * the message is for the user.
 */
export async function createProvider(
  name: string,
  settings: ProviderSettings,
  among: ProviderRegistry = PROVIDERS,
): Promise<LlmProvider> {
  const entry = providerNamed(name, among);
  if (entry === null) throw new ProviderSettingsError(`There is no provider ${JSON.stringify(name)}.`);
  return entry.create(settings);
}

/** Variables that may hold a key: no child gets them. */
export const KEY_VARIABLES: readonly string[] = Object.values(PROVIDERS).flatMap(
  ({ keyVariable }) => keyVariable ?? [],
);
