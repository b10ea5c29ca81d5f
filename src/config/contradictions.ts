/** Settings that cannot be combined. */

import {
  defaultProvider,
  PROVIDERS,
  type ProviderEntry,
  providerNamed,
} from '../adapters/providers/registry.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { hasPrice, isPriceOf, mainPrice, priceByName } from '../domain/run/pricing.ts';
import { otherModels } from './named-provider.ts';
import type { SettingKey, Settings } from './schema.ts';
import { isPlainHttp } from './values/addresses.ts';
import { shown } from './values/value.ts';

/** Where a value came from, and how to name that. */
interface NamedSource {
  readonly from: 'flag' | 'environment' | 'file' | 'default';
  readonly name: string;
}

/** Settings, and how each is named to people. */
interface NamedSettings {
  readonly settings: Settings;
  readonly sources: Readonly<Record<SettingKey, NamedSource>>;
  readonly provider: ProviderEntry;
  name(key: SettingKey): string;
}

/** Contradictions between settings that are valid on their own. */
export function* contradictions(
  settings: Settings,
  sources: Readonly<Record<SettingKey, NamedSource>>,
): Generator<Problem> {
  const provider = providerNamed(settings.provider) ?? defaultProvider;
  const given: NamedSettings = { settings, sources, provider, name: (key) => sources[key].name };
  yield* ofTaskAndOutput(given);
  yield* ofProvider(given);
  yield* ofOtherModels(given);
  yield* ofAttempts(given);
  yield* ofCostLimit(given);
}

function* ofTaskAndOutput({ settings, name }: NamedSettings): Generator<Problem> {
  const both = (one: SettingKey, other: SettingKey) =>
    problem('ERR_SETTINGS_CONFLICT', `${name(one)} and ${name(other)}: give one of them, not both`);
  if (settings.plan !== null && settings.message !== null) yield both('plan', 'message');
  for (const key of ['planFromIssue', 'planFromComment'] as const) {
    if (settings[key] === null) continue;
    const other = settings.message !== null ? 'message' : key === 'planFromIssue' ? 'planFromComment' : null;
    if (other !== null && settings[other] !== null) yield both(key, other);
  }
  if (settings.quiet && settings.verbose) yield both('quiet', 'verbose');
  if (settings.commandTimeoutMs > settings.maxCommandTimeoutMs) {
    yield problem(
      'ERR_SETTINGS_CONFLICT',
      `${name('commandTimeoutMs')}: is over --max-command-timeout, which is ${settings.maxCommandTimeoutMs / 1_000} s (${name('maxCommandTimeoutMs')})`,
    );
  }
}

function* ofProvider({ settings, sources, provider, name }: NamedSettings): Generator<Problem> {
  if (provider.playsRecording && settings.recording === null) {
    yield problem(
      'ERR_SETTING_NEEDED',
      `${name('provider')}: ${settings.provider} needs a journal or a script; use --recording FILE`,
    );
  }
  if (!provider.playsRecording && settings.recording !== null) {
    const players = Object.keys(PROVIDERS).filter((other) => PROVIDERS[other]?.playsRecording);
    yield problem(
      'ERR_SETTING_WITHOUT_EFFECT',
      `${name('recording')}: is only used with --provider ${players.join('|')}`,
    );
  }
  if (provider.defaultModel === null && !provider.playsRecording && sources.model.from === 'default') {
    yield problem(
      'ERR_SETTING_NEEDED',
      `${name('provider')}: ${settings.provider} has no default model; use --model ID`,
    );
  }
  if (settings.baseUrl !== null && isPlainHttp(settings.baseUrl) && !settings.allowInsecureBaseUrl) {
    yield problem(
      'ERR_INSECURE_BASE_URL',
      `${name('baseUrl')}: plain http to another host, where the key could be read on the way; use https, or permit it with --allow-insecure-base-url`,
    );
  }
  if (settings.compaction === 'server' && !(provider.compacts?.(settings.model) ?? false))
    yield notCompacted(name, settings.provider, shown(settings.model));
}

/** The fallback model and the reviewer. */
function* ofOtherModels({ settings, provider, name }: NamedSettings): Generator<Problem> {
  const { fallback, reviewer } = otherModels(settings);
  if (fallback !== null && provider.playsRecording) {
    yield problem(
      'ERR_SETTING_WITHOUT_EFFECT',
      `${name('fallbackModel')}: a recording cannot fall back to another model`,
    );
  }
  if (reviewer !== null && provider.playsRecording) {
    yield problem(
      'ERR_SETTINGS_CONFLICT',
      `${name('reviewModel')}: a recording has no second model to review with; with --review it plays its own reviews`,
    );
  }
  const after = providerNamed(fallback?.provider) ?? provider;
  if (fallback !== null && settings.compaction === 'server' && !(after.compacts?.(fallback.model) ?? false))
    yield notCompacted(name, fallback.provider, `${shown(fallback.model)}, the fallback model`);
}

function notCompacted(name: NamedSettings['name'], provider: string, model: string): Problem {
  const said = `${provider} has no compaction of its own for ${model}; use --compaction summarize`;
  return problem('ERR_COMPACTION_UNSUPPORTED', `${name('compaction')}: ${said}`);
}

/** A cost can be limited only where every price is known. Who may name a model may not have it priced like another. */
function* ofCostLimit({ settings, sources, provider, name }: NamedSettings): Generator<Problem> {
  if (sources.model.from === 'file' && settings.price.some(({ model }) => model === null)) {
    yield problem(
      'ERR_NOT_FOR_PROJECT_FILE',
      `${name('price')}: ${name('model')} chooses the model, so the price has to name the one that it is for; use --price ${shown(`${settings.model}:PRICES`)} or --model`,
    );
  }
  if (settings.maxCostUsd === null) return;
  for (const [what, parts] of [
    ['fallback model', otherModels(settings).fallback],
    ['reviewer', otherModels(settings).reviewer],
  ] as const) {
    if (parts === null || priceByName(settings.price, parts) !== null) continue;
    const fix = `--price ${shown(`${parts.provider}/${parts.model}:PRICES`)} or --max-total-tokens`;
    if (!isPriced(providerNamed(parts.provider), parts.model))
      yield unpriced(`${shown(parts.model)}, the ${what},`, fix);
  }
  if (mainPrice(settings.price, settings) === null && !isPriced(provider, settings.model))
    yield unpriced(shown(settings.model), '--price');

  function unpriced(model: string, fix: string): Problem {
    const said = `the price of ${model} is not known, so its cost cannot be limited; use ${fix}`;
    return problem('ERR_PRICE_UNKNOWN', `${name('maxCostUsd')}: ${said}`);
  }
}

/** Also where nothing is billed. */
function isPriced(provider: ProviderEntry | null, model: string): boolean {
  return !provider?.isBilled || hasPrice(model) || Boolean(provider.priceOf?.(model));
}

/**
 * Prices of models that the run does not ask, such as those of a misspelled name, which would have no effect. Not for a resumed
 * run, whose models are in its record.
 */
export function unusedPrices(
  settings: Settings,
  sources: Readonly<Record<SettingKey, NamedSource>>,
): Problem[] {
  if (providerNamed(settings.provider)?.playsRecording) return [];
  const models = [settings, ...Object.values(otherModels(settings)).flatMap((one) => one ?? [])];
  const unused = settings.price.filter(
    (given) => given.model !== null && !models.some((model) => isPriceOf(given, model)),
  );
  const names = [...new Set(models.map(({ provider, model }) => shown(`${provider}/${model}`)))];
  return unused.map(({ model }) =>
    problem(
      'ERR_SETTING_WITHOUT_EFFECT',
      `${sources.price.name}: this run does not ask ${shown(model)}; its models are ${names.join(', ')}`,
    ),
  );
}

/** Nothing for a run with one attempt. */
function* ofAttempts({ settings, provider, name }: NamedSettings): Generator<Problem> {
  const { attempts, readOnly, continued, mcp, mcpConfig, sandbox } = settings;
  if (attempts === 1) return;
  const hasServers = (Array.isArray(mcp) ? mcp : Object.keys(mcp)).length > 0;
  const outside = 'an MCP server acts outside the copies, once for each attempt';
  const conflicts: readonly (readonly [SettingKey, boolean, string])[] = [
    ['readOnly', readOnly, 'attempts are compared by what they change'],
    ['continued', continued !== 'never', 'a pull request is continued by one run'],
    ['mcp', hasServers, outside],
    ['mcpConfig', mcpConfig !== null, outside],
    ['sandbox', sandbox === 'off', 'without a sandbox, one attempt could reach the copy of another'],
    ['provider', provider.playsRecording, 'a recording says the same each time'],
  ];
  for (const [key, isGiven, why] of conflicts)
    if (isGiven) yield problem('ERR_SETTINGS_CONFLICT', `${name('attempts')} and ${name(key)}: ${why}`);
}
