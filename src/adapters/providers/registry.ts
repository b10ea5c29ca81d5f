/**
 * The providers by name, with all their differences: settings, help, keys and `resume` look them up here. A new
 * provider is a file, an entry and a test. Its code is loaded when a run opens it, since start-up time matters.
 */

import type { Price } from '../../domain/run/pricing.ts';
import type { LlmProvider } from '../../ports.ts';
import type { OrganizationRequest, OrganizationSpending } from './anthropic/organization.ts';
import { type EndpointOptions, isAzureHost, isVendorHost, ProviderSettingsError } from './asking/endpoint.ts';
import type { NamelessProvider } from './asking/provider.ts';

/** What a provider is created from; each uses the parts it needs. */
export interface ProviderSettings extends EndpointOptions {
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
  readonly organization?: {
    /** The variable that contains the administrator's key, in the environment or a `.env`. */
    readonly keyVariable: string;
    readSpending(request: OrganizationRequest): Promise<OrganizationSpending>;
  };
  /** Loads what its first request needs; called while the process is otherwise idle. */
  readonly preload?: () => void;
  /** Throws ProviderSettingsError when settings are missing or invalid; the message is for the user. */
  create(settings: ProviderSettings): Promise<NamelessProvider & Partial<LlmProvider>>;
}

/** Providers by name, as accepted by `--provider`. */
export type ProviderRegistry = Readonly<Record<string, ProviderEntry>>;

/** The provider used if none is chosen. */
export const DEFAULT_PROVIDER = 'anthropic';

const usual = {
  defaultModel: null,
  keyVariable: null,
  baseUrlVariable: null,
  federation: null,
  isBilled: true,
  canResume: true,
  playsRecording: false,
} as const;

/** Node loads its HTTP client when one of its classes is first referenced, which takes 20 ms. */
const preload = (): void => void globalThis.Headers;

const providers = {
  anthropic: {
    ...usual,
    meaning: 'the Claude API',
    defaultModel: 'claude-sonnet-5-5',
    keyVariable: 'ANTHROPIC_API_KEY',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    federation: { audience: 'https://api.anthropic.com' },
    // Compaction on demand, according to the vendor's page of September 2026: not for fourth-generation models before
    // 4.6.
    compacts: (model) => /^claude-/.test(model) && !/^claude-[a-z]+-4(-[0-5])?(-\d{8})?$/.test(model),
    organization: {
      keyVariable: 'ANTHROPIC_ADMIN_API_KEY',
      readSpending: async (request) =>
        (await import('./anthropic/organization.ts')).readOrganization(request),
    },
    preload,
    create: async (settings) => (await import('./anthropic.ts')).createAnthropicProvider(settings),
  },
  openai: {
    ...usual,
    meaning: 'OpenAI, or any compatible endpoint',
    defaultModel: 'gpt-5.4',
    keyVariable: 'OPENAI_API_KEY',
    hostKey: { variable: 'AZURE_OPENAI_API_KEY', isAt: ({ hostname }) => isAzureHost(hostname) },
    mayLackKeyAt: ({ hostname }) => !isVendorHost(hostname),
    baseUrlVariable: 'OPENAI_BASE_URL',
    preload,
    create: async (settings) => (await import('./openai.ts')).createOpenAiProvider(settings),
  },
  bedrock: {
    ...usual,
    meaning: 'Claude on Amazon Bedrock',
    telemetryName: 'aws.bedrock',
    baseUrlVariable: 'ANTHROPIC_BEDROCK_BASE_URL',
    create: async (settings) => (await import('./bedrock.ts')).createBedrockProvider(settings),
  },
  vertex: {
    ...usual,
    meaning: "Claude on Google's Vertex AI",
    telemetryName: 'gcp.vertex_ai',
    baseUrlVariable: 'ANTHROPIC_VERTEX_BASE_URL',
    create: async (settings) => (await import('./vertex.ts')).createVertexProvider(settings),
  },
  gemini: {
    ...usual,
    meaning: 'the Gemini API',
    telemetryName: 'gcp.gemini',
    defaultModel: 'gemini-flash-latest',
    keyVariable: 'GEMINI_API_KEY',
    otherKeyVariable: 'GOOGLE_API_KEY',
    baseUrlVariable: 'GOOGLE_GEMINI_BASE_URL',
    preload,
    create: async (settings) => (await import('./gemini.ts')).createGeminiProvider(settings),
  },
  replay: {
    ...usual,
    meaning: 'a recorded run',
    isBilled: false,
    canResume: false,
    playsRecording: true,
    create: async ({ recording }) => (await import('./replay.ts')).openRecording(recording),
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
  return { name, ...(await entry.create(settings)) };
}

/** Variables that may contain a key: no child process gets them. */
export const KEY_VARIABLES: readonly string[] = Object.values(PROVIDERS).flatMap((entry) =>
  [
    entry.keyVariable,
    entry.otherKeyVariable,
    entry.hostKey?.variable,
    entry.organization?.keyVariable,
  ].flatMap((name) => name ?? []),
);

/** The variables that may contain a provider's key at an address, in order of precedence. */
export function keyVariablesAt(
  { keyVariable, otherKeyVariable, hostKey }: ProviderEntry,
  baseUrl: string | null,
): readonly string[] {
  const atHost = baseUrl !== null && hostKey?.isAt(new URL(baseUrl)) ? hostKey.variable : [];
  return [atHost, keyVariable ?? [], otherKeyVariable ?? []].flat();
}
