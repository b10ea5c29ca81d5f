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
import type { SettingKey, SettingSource, Settings } from './schema.ts';
import { isPlainHttp } from './values/addresses.ts';
import { shown } from './values/value.ts';

/** Whether a contradiction applies, its code, and what to say of it. */
type Rule = readonly [applies: boolean, code: Problem['code'], said: string];

/** Contradictions between settings that are valid on their own. */
export function contradictions(
  settings: Settings,
  sources: Readonly<Record<SettingKey, SettingSource>>,
): Problem[] {
  const { plan, message, planFromIssue, planFromComment, recording, baseUrl, compaction } = settings;
  const provider = providerNamed(settings.provider) ?? defaultProvider;
  const { playsRecording = false } = provider;
  const { fallback, reviewer } = otherModels(settings);
  const name = (key: SettingKey) => sources[key].name;
  const both = (applies: boolean, one: SettingKey, other: SettingKey, why = ONE_OF_THEM): Rule => [
    applies,
    'ERR_SETTINGS_CONFLICT',
    `${name(one)} and ${name(other)}: ${why}`,
  ];
  const notCompacted = (asked: ProviderEntry, model: string, said: string): Rule => [
    compaction === 'server' && !(asked.compacts?.(model) ?? false),
    'ERR_COMPACTION_UNSUPPORTED',
    `${name('compaction')}: ${said}; use --compaction summarize`,
  ];
  const after = providerNamed(fallback?.provider) ?? provider;
  const rules: Rule[] = [
    both(plan !== null && message !== null, 'plan', 'message'),
    both(planFromIssue !== null && message !== null, 'planFromIssue', 'message'),
    both(
      planFromIssue !== null && message === null && planFromComment !== null,
      'planFromIssue',
      'planFromComment',
    ),
    both(planFromComment !== null && message !== null, 'planFromComment', 'message'),
    both(settings.quiet && settings.verbose, 'quiet', 'verbose'),
    [
      settings.commandTimeoutMs > settings.maxCommandTimeoutMs,
      'ERR_SETTINGS_CONFLICT',
      `${name('commandTimeoutMs')}: is over --max-command-timeout, which is ${settings.maxCommandTimeoutMs / 1_000} s (${name('maxCommandTimeoutMs')})`,
    ],
    [
      playsRecording && recording === null,
      'ERR_SETTING_NEEDED',
      `${name('provider')}: ${settings.provider} needs a journal or a script; use --recording FILE`,
    ],
    [
      !playsRecording && recording !== null,
      'ERR_SETTING_WITHOUT_EFFECT',
      `${name('recording')}: is only used with --provider ${PLAYERS.join('|')}`,
    ],
    [
      provider.defaultModel === null && !playsRecording && sources.model.from === 'default',
      'ERR_SETTING_NEEDED',
      `${name('provider')}: ${settings.provider} has no default model; use --model ID`,
    ],
    [
      baseUrl !== null && isPlainHttp(baseUrl) && !settings.allowInsecureBaseUrl,
      'ERR_INSECURE_BASE_URL',
      `${name('baseUrl')}: plain http to another host, where the key could be read on the way; use https, or permit it with --allow-insecure-base-url`,
    ],
    notCompacted(
      provider,
      settings.model,
      `${settings.provider} has no compaction of its own for ${shown(settings.model)}`,
    ),
    [
      fallback !== null && playsRecording,
      'ERR_SETTING_WITHOUT_EFFECT',
      `${name('fallbackModel')}: a recording cannot fall back to another model`,
    ],
    [
      reviewer !== null && playsRecording,
      'ERR_SETTINGS_CONFLICT',
      `${name('reviewModel')}: a recording has no second model to review with; with --review it plays its own reviews`,
    ],
    ...(fallback === null
      ? []
      : [
          notCompacted(
            after,
            fallback.model,
            `${fallback.provider} has no compaction of its own for ${shown(fallback.model)}, the fallback model`,
          ),
        ]),
    ...attemptRules(settings, playsRecording).map(([key, applies, why]) =>
      both(applies, 'attempts', key, why),
    ),
    // Who may name a model may not have it priced like another.
    [
      sources.model.from === 'file' && settings.price.some(({ model }) => model === null),
      'ERR_NOT_FOR_PROJECT_FILE',
      `${name('price')}: ${name('model')} chooses the model, so the price has to name the one that it is for; use --price ${shown(`${settings.model}:PRICES`)} or --model`,
    ],
    ...unpriced(settings, provider).map(
      ([model, fix]): Rule => [
        settings.maxCostUsd !== null,
        'ERR_PRICE_UNKNOWN',
        `${name('maxCostUsd')}: the price of ${model} is not known, so its cost cannot be limited; use ${fix}`,
      ],
    ),
  ];
  return rules.flatMap(([applies, code, said]) => (applies ? [problem(code, said)] : []));
}

const ONE_OF_THEM = 'give one of them, not both';

const PLAYERS = Object.keys(PROVIDERS).filter((name) => PROVIDERS[name]?.playsRecording);

/** What several attempts cannot be combined with, whether it is given, and why. */
function attemptRules(
  { attempts, readOnly, continued, mcp, mcpConfig, sandbox }: Settings,
  playsRecording: boolean,
): (readonly [SettingKey, boolean, string])[] {
  const hasServers = (Array.isArray(mcp) ? mcp : Object.keys(mcp)).length > 0;
  const outside = 'an MCP server acts outside the copies, once for each attempt';
  return [
    ['readOnly', readOnly, 'attempts are compared by what they change'],
    ['continued', continued !== 'never', 'a pull request is continued by one run'],
    ['mcp', hasServers, outside],
    ['mcpConfig', mcpConfig !== null, outside],
    ['sandbox', sandbox === 'off', 'without a sandbox, one attempt could reach the copy of another'],
    ['provider', playsRecording, 'a recording says the same each time'],
  ].map(([key, isGiven, why]) => [key, isGiven && attempts > 1, why] as [SettingKey, boolean, string]);
}

/** The models whose price is not known, and what gives one. */
function unpriced(settings: Settings, provider: ProviderEntry): (readonly [model: string, fix: string])[] {
  const { fallback, reviewer } = otherModels(settings);
  const others = Object.entries({ 'fallback model': fallback, reviewer }).flatMap(([what, parts]) =>
    parts === null ||
    priceByName(settings.price, parts) !== null ||
    isPriced(providerNamed(parts.provider), parts.model)
      ? []
      : [
          [
            `${shown(parts.model)}, the ${what},`,
            `--price ${shown(`${parts.provider}/${parts.model}:PRICES`)} or --max-total-tokens`,
          ] as const,
        ],
  );
  const isKnown = mainPrice(settings.price, settings) !== null || isPriced(provider, settings.model);
  return isKnown ? others : [...others, [shown(settings.model), '--price']];
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
  sources: Readonly<Record<SettingKey, SettingSource>>,
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
