/**
 * What a journal may determine about a resumed run. Anyone may have written it, so it can narrow a run's limits but never widen
 * them: anything beyond the current settings is listed, and the caller has to repeat it.
 */

import { fallbackParts, reviewerParts } from '../../config/named-provider.ts';
import { type SettingKey, type Settings, settingEntries } from '../../config/schema.ts';
import type { FallbackModel } from '../../domain/fallback/fallback.ts';
import { isCovered, permittedToday } from '../../domain/review/allowed-domain.ts';
import type { RunStarted } from '../../domain/run/events.ts';
import { type Limits, MAX_RECOVERIES, MAX_STALL_TURNS } from '../../domain/run/limits.ts';
import { mainPrice, priceText } from '../../domain/run/pricing.ts';
import { printedWord } from '../../domain/shell-word.ts';
import { fallbackOf, reviewerOf } from '../../engine/open/provider.ts';

/** The flags that would permit what the journal requests, as typed; empty if nothing has to be repeated. */
export function flagsToRepeat(start: RunStarted, settings: Settings): string[] {
  const { limits, toolSettings, modelSettings } = start;
  const recorded: Readonly<Record<string, unknown>> = {
    ...limits,
    maxToolOutput: toolSettings.maxOutputChars,
    maxOutputTokens: modelSettings.maxOutputTokens,
  };
  const higher = settingEntries().flatMap(({ key, flag }) => {
    const [was, today] = [recorded[key], settings[key]];
    if (typeof was !== 'number' || typeof today !== 'number' || was <= today) return [];
    return [`--${flag} ${key.endsWith('Ms') ? `${was / 1_000}s` : was}`];
  });
  const { missing } = permittedToday(start, settings);
  const pages = toolSettings.webFetch.filter((host) => !isReadable(host, settings.webFetch));
  const secrets = start.acceptSecrets.filter((glob) => !settings.acceptSecrets.includes(glob));
  return [
    // The key was read for the provider in the settings, and must not go to another.
    ...(start.provider === settings.provider ? [] : [`--provider ${printedWord(start.provider)}`]),
    ...fallbackFlag(start, settings),
    ...reviewerFlag(start, settings),
    ...(start.sandbox === 'none' && settings.sandbox === 'auto' ? ['--sandbox off'] : []),
    ...missing.map(({ flag, entry }) => `${flag} ${printedWord(entry)}`),
    ...pages.map((entry) => `--web-fetch ${printedWord(entry)}`),
    ...higher,
    ...priceFlags(start, settings),
    ...secrets.map((glob) => `--accept-secrets ${printedWord(glob)}`),
    ...(start.includeForeign && !settings.includeForeign ? ['--include-foreign'] : []),
  ];
}

/**
 * The recorded start with the current limits: those that are `given` replace the recorded ones; the others apply if they are
 * narrower and a flag cannot say "no limit".
 */
export function withinToday<Start extends RunStarted>(
  start: Start,
  settings: Settings,
  given: readonly SettingKey[],
): Start {
  const { limits, modelSettings } = start;
  const ofToday = settingEntries().flatMap(({ key }) =>
    key in limits && (given.includes(key) || limits[key as keyof Limits] === null)
      ? [[key, settings[key]]]
      : [],
  );
  return {
    ...start,
    price: mainPrice(settings.price, start) ?? start.price,
    fallback: start.fallback && withPrice(start.fallback, fallbackOf(settings)),
    review: withPriceOfToday(start.review, settings),
    modelSettings: given.includes('maxOutputTokens')
      ? { ...modelSettings, maxOutputTokens: settings.maxOutputTokens }
      : modelSettings,
    limits: {
      ...limits,
      maxTokensRecoveries: Math.min(limits.maxTokensRecoveries, MAX_RECOVERIES),
      stallTurns: Math.min(limits.stallTurns, MAX_STALL_TURNS),
      ...Object.fromEntries(ofToday),
    },
  };
}

/** Whether pages of a host may be read where those of `hosts` may. */
function isReadable(host: string, hosts: readonly string[]): boolean {
  return hosts.includes('*') || (host !== '*' && isCovered(host, hosts));
}

/** The key of the fallback model was read for the one in the settings. */
function fallbackFlag({ fallback }: RunStarted, settings: Settings): string[] {
  const today = fallbackParts(settings);
  if (fallback === null || (fallback.provider === today?.provider && fallback.model === today.model))
    return [];
  return [`--fallback-model ${printedWord(`${fallback.provider}/${fallback.model}`)}`];
}

function reviewerFlag({ review }: RunStarted, settings: Settings): string[] {
  const today = reviewerParts(settings);
  const by = review?.by ?? null;
  if (by === null || (by.provider === today?.provider && by.model === today.model)) return [];
  return [`--review-model ${printedWord(`${by.provider}/${by.model}`)}`];
}

function withPriceOfToday(review: RunStarted['review'], settings: Settings): RunStarted['review'] {
  const by = review?.by ?? null;
  return review && { ...review, by: by && withPrice(by, reviewerOf(settings)) };
}

function withPrice(recorded: FallbackModel, today: FallbackModel | null): FallbackModel {
  return { ...recorded, price: today?.price ?? recorded.price };
}

/** Custom prices determine when a cost limit is reached. */
function priceFlags(start: RunStarted, settings: Settings): string[] {
  const { limits, price, fallback, review } = start;
  if ((limits.maxCostUsd ?? settings.maxCostUsd) === null) return [];
  const others = [
    { recorded: fallback, today: fallbackOf(settings) },
    { recorded: review?.by ?? null, today: reviewerOf(settings) },
  ];
  return [
    ...(price === null || mainPrice(settings.price, start) !== null ? [] : [`--price ${priceText(price)}`]),
    ...others.flatMap(({ recorded, today }) => {
      if (recorded === null || recorded.price === null || today?.price) return [];
      const { provider, model } = recorded;
      return [`--price ${printedWord(`${provider}/${model}:${priceText(recorded.price)}`)}`];
    }),
  ];
}
