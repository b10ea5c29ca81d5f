/** What each model accepts, as far as it differs. */

export interface ModelRules {
  readonly maxOutput: number;
  readonly contextTokens: number;
  /** Smallest prompt that is cached, in tokens. */
  readonly minCacheTokens: number;
  readonly sampling: boolean;
  readonly prefill: boolean;
  readonly forcedTools: boolean;
  readonly effort: boolean;
  readonly thinking: readonly string[];
  /** Thinking blocks are bound to the prefix that they were made after. */
  readonly bound: boolean;
  /** Conversations are compacted on demand. */
  readonly compacts: boolean;
}

const fifth: ModelRules = {
  maxOutput: 128_000,
  contextTokens: 1_000_000,
  minCacheTokens: 512,
  sampling: false,
  prefill: false,
  forcedTools: true,
  effort: true,
  thinking: ['adaptive', 'disabled', 'between_tools'],
  bound: true,
  compacts: true,
};

const fourth: ModelRules = {
  maxOutput: 64_000,
  contextTokens: 200_000,
  minCacheTokens: 1024,
  sampling: true,
  prefill: true,
  forcedTools: true,
  effort: true,
  thinking: ['adaptive', 'disabled', 'enabled'],
  bound: false,
  compacts: true,
};

const MODELS: Readonly<Record<string, ModelRules>> = {
  'claude-sonnet-5-5': { ...fifth, forcedTools: false, thinking: ['adaptive', 'between_tools'] },
  'claude-opus-5-5': fifth,
  'claude-haiku-5-5': fifth,
  'claude-sonnet-5': { ...fifth, minCacheTokens: 1024, bound: false },
  'claude-sonnet-4-6': fourth,
  'claude-sonnet-4-5': { ...fourth, effort: false, compacts: false, thinking: ['disabled', 'enabled'] },
};

/** Undefined for a model that does not exist. */
export function rulesFor(model: string): ModelRules | undefined {
  return MODELS[model] ?? MODELS[model.replace(/-\d{8}$/, '')];
}
