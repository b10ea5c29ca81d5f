/**
 * The providers by name, with all their differences: settings, help, keys and `resume` look them up here. A new
 * provider is a file, an entry and a test. Its code is loaded when a run opens it, since start-up time matters.
 */

import type { Environment } from '../../domain/environment.ts';
import type { ModelSettings } from '../../domain/run/model-settings.ts';
import type { Price } from '../../domain/run/pricing.ts';
import type { Federation } from '../../ports/network.ts';
import type { Clock, LlmProvider } from '../../ports.ts';
import { isAzureHost, isVendorHost } from './openai/vendor-host.ts';
import type { OrganizationEntry } from './organization-spending.ts';
import { ProviderSettingsError } from './settings-error.ts';

/** How long to wait for answers; if absent, the provider's own default. */
type Waits = Partial<Pick<ModelSettings, 'idleTimeoutMs' | 'rateLimitWaitMs' | 'outageWaitMs'>>;

/** What a provider is created from; each uses the parts it needs. */
export interface ProviderSettings extends Omit<ModelSettings, keyof Waits>, Waits {
  readonly model: string;
  /** Null for a provider without a key, or with a federation. */
  readonly apiKey: string | null;
  readonly federation?: Federation;
  /** Default: the vendor's own. */
  readonly baseUrl?: string;
  /** Whether plain http to another host is allowed. */
  readonly allowInsecureBaseUrl?: boolean;
  /** Used to reach it. Default: the platform's own fetch. */
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
  /** The environment, for clients that log in with variables of their cloud. */
  readonly env?: Environment;
  /** Path of the journal or script to play; null if there is none. */
  readonly recording: string | null;
}

/** One provider: its name in help texts, what it needs, and how to open it. */
export interface ProviderEntry {
  /** Who answers, as worded in a help text. */
  readonly meaning: string;
  /** Its name in OpenTelemetry's conventions, `gen_ai.provider.name`. Absent: the same as here. */
  readonly telemetryName?: string;
  /** The default model; null if a recording determines it, or if there is none. */
  readonly defaultModel: string | null;
  /** The variable that contains its key, in the environment or a `.env`; null for a provider without a key. */
  readonly keyVariable: string | null;
  /** Another variable for the same key, for when the first one is not set. */
  readonly otherKeyVariable?: string;
  /** A variable that takes precedence at some addresses, whose keys differ from the provider's own. */
  readonly hostKey?: { readonly variable: string; readonly isAt: (url: URL) => boolean };
  /** True for an address that may need no key, so a missing one is no mistake. Absent: a key is always needed. */
  readonly mayLackKeyAt?: (url: URL) => boolean;
  /** The variable that contains its address; null for a provider without one. */
  readonly baseUrlVariable: string | null;
  /** How a job can log in without a key; null if it cannot. */
  readonly federation: { readonly audience: string } | null;
  /** Its answers cost money, so a cost limit needs a price. */
  readonly isBilled: boolean;
  /** Prices of models missing from the built-in table; null for a model unknown here too. */
  readonly priceOf?: (model: string) => Price | null;
  /** Whether the API compacts conversations of a model by itself (`--compaction server`); absent where it never does. */
  readonly compacts?: (model: string) => boolean;
  /** Whether a killed run can continue with it. With recorded answers, you simply start the run again. */
  readonly canResume: boolean;
  /** It plays the file given by `--recording`, and requires one. */
  readonly playsRecording: boolean;
  /** Absent for a provider that cannot say what an organisation has spent. */
  readonly organization?: OrganizationEntry;
  /** Loads what its first request needs; called while the process is otherwise idle. */
  readonly preload?: () => void;
  /** Throws ProviderSettingsError when settings are missing or invalid; the message is for the user. */
  create(settings: ProviderSettings): Promise<LlmProvider>;
}

/** Providers by name, as accepted by `--provider`. */
export type ProviderRegistry = Readonly<Record<string, ProviderEntry>>;

/** The provider used if none is chosen. */
export const DEFAULT_PROVIDER = 'anthropic';

/** What clouds that offer other vendors' models have in common: their own login, and their own names for models. */
const elsewhere = {
  defaultModel: null,
  keyVariable: null,
  federation: null,
  isBilled: true,
  canResume: true,
  playsRecording: false,
} as const;

const providers = {
  anthropic: {
    meaning: 'the Claude API',
    defaultModel: 'claude-sonnet-5-5',
    keyVariable: 'ANTHROPIC_API_KEY',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    federation: { audience: 'https://api.anthropic.com' },
    isBilled: true,
    // Compaction on demand, according to the vendor's page of September 2026: not for fourth-generation models before
    // 4.6.
    compacts: (model) => /^claude-/.test(model) && !/^claude-[a-z]+-4(-[0-5])?(-\d{8})?$/.test(model),
    canResume: true,
    playsRecording: false,
    organization: {
      keyVariable: 'ANTHROPIC_ADMIN_API_KEY',
      async readSpending(request) {
        const { readOrganization } = await import('./anthropic/organization.ts');
        return readOrganization(request);
      },
    },
    // Node loads its HTTP client when one of its classes is first referenced, which takes 20 ms.
    preload: () => void globalThis.Headers,
    async create({ recording: _, ...options }) {
      const { createAnthropicProvider } = await import('./anthropic.ts');
      return createAnthropicProvider(options);
    },
  },
  openai: {
    meaning: 'OpenAI, or any compatible endpoint',
    defaultModel: 'gpt-5.4',
    keyVariable: 'OPENAI_API_KEY',
    hostKey: { variable: 'AZURE_OPENAI_API_KEY', isAt: ({ hostname }) => isAzureHost(hostname) },
    mayLackKeyAt: ({ hostname }) => !isVendorHost(hostname),
    baseUrlVariable: 'OPENAI_BASE_URL',
    federation: null,
    isBilled: true,
    canResume: true,
    playsRecording: false,
    preload: () => void globalThis.Headers,
    async create({ recording: _, ...options }) {
      const { createOpenAiProvider } = await import('./openai.ts');
      return createOpenAiProvider(options);
    },
  },
  bedrock: {
    meaning: 'Claude on Amazon Bedrock',
    telemetryName: 'aws.bedrock',
    ...elsewhere,
    baseUrlVariable: 'ANTHROPIC_BEDROCK_BASE_URL',
    async create(settings) {
      const { createBedrockProvider } = await import('./bedrock.ts');
      return createBedrockProvider(settings);
    },
  },
  vertex: {
    meaning: "Claude on Google's Vertex AI",
    telemetryName: 'gcp.vertex_ai',
    ...elsewhere,
    baseUrlVariable: 'ANTHROPIC_VERTEX_BASE_URL',
    async create(settings) {
      const { createVertexProvider } = await import('./vertex.ts');
      return createVertexProvider(settings);
    },
  },
  gemini: {
    meaning: 'the Gemini API',
    telemetryName: 'gcp.gemini',
    defaultModel: 'gemini-flash-latest',
    keyVariable: 'GEMINI_API_KEY',
    otherKeyVariable: 'GOOGLE_API_KEY',
    baseUrlVariable: 'GOOGLE_GEMINI_BASE_URL',
    federation: null,
    isBilled: true,
    canResume: true,
    playsRecording: false,
    preload: () => void globalThis.Headers,
    async create({ recording: _, ...options }) {
      const { createGeminiProvider } = await import('./gemini.ts');
      return createGeminiProvider(options);
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

/** All built-in providers. */
export const PROVIDERS: ProviderRegistry = providers;

/** The entry for a parsed or recorded name; null if there is none. */
export function providerNamed(name: unknown, among: ProviderRegistry = PROVIDERS): ProviderEntry | null {
  return typeof name === 'string' && Object.hasOwn(among, name) ? (among[name] ?? null) : null;
}

/** The entry of the default provider. */
export const defaultProvider: ProviderEntry = providers[DEFAULT_PROVIDER];

/**
 * Opens a provider by name. Throws ProviderSettingsError for an unknown name, or when settings are missing or invalid; the
 * message is for the user.
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

/** Variables that may contain a key: no child process gets them. */
export const KEY_VARIABLES: readonly string[] = Object.values(PROVIDERS).flatMap(
  ({ keyVariable, otherKeyVariable, hostKey, organization }) =>
    [
      keyVariable ?? [],
      otherKeyVariable ?? [],
      hostKey?.variable ?? [],
      organization?.keyVariable ?? [],
    ].flat(),
);

/** The variables that may contain a provider's key at an address, in order of precedence. */
export function keyVariablesAt(
  { keyVariable, otherKeyVariable, hostKey }: ProviderEntry,
  baseUrl: string | null,
): readonly string[] {
  const atHost = baseUrl !== null && hostKey?.isAt(new URL(baseUrl)) ? hostKey.variable : [];
  return [atHost, keyVariable ?? [], otherKeyVariable ?? []].flat();
}
