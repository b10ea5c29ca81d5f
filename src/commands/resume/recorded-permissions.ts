/**
 * What a journal may determine about a resumed run. Anyone may have written it, so it can narrow a run's limits but never widen
 * them: anything beyond the current settings is listed, and the caller has to repeat it.
 */

import { type SettingKey, type Settings, settingEntries } from '../../config/schema.ts';
import type { FallbackModel } from '../../domain/fallback.ts';
import { isCovered, permittedToday } from '../../domain/review/reachable.ts';
import type { RunStarted } from '../../domain/run/events.ts';
import type { Limits } from '../../domain/run/limits.ts';
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
  const readable = settings.webFetch;
  const pages = toolSettings.webFetch.filter(
    (host) => !readable.includes('*') && (host === '*' || !isCovered(host, readable)),
  );
  const secrets = start.acceptSecrets.filter((glob) => !settings.acceptSecrets.includes(glob));
  return [
    // The key was read for the provider in the settings, and must not go to another.
    ...(start.provider === settings.provider ? [] : [`--provider ${printedWord(start.provider)}`]),
    // The keys of these models were read for those in the settings.
    ...othersOf(start, settings).flatMap(({ flag, recorded, today }) =>
      recorded.provider === today?.provider && recorded.model === today.model
        ? []
        : [`${flag} ${nameOf(recorded)}`],
    ),
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
    fallback: withPrice(start.fallback, fallbackOf(settings)),
    review: start.review && { ...start.review, by: withPrice(start.review.by, reviewerOf(settings)) },
    modelSettings: given.includes('maxOutputTokens')
      ? { ...modelSettings, maxOutputTokens: settings.maxOutputTokens }
      : modelSettings,
    limits: { ...limits, ...Object.fromEntries(ofToday) },
  };
}

/** The models besides the first one that the journal has, and those of the settings in their place. */
function othersOf({ fallback, review }: RunStarted, settings: Settings) {
  const others = [
    { flag: '--fallback-model', recorded: fallback, today: fallbackOf(settings) },
    { flag: '--review-model', recorded: review?.by ?? null, today: reviewerOf(settings) },
  ];
  return others.flatMap(({ recorded, ...other }) => (recorded === null ? [] : [{ recorded, ...other }]));
}

function nameOf({ provider, model, price = null }: FallbackModel, withPrice = false): string {
  return printedWord(`${provider}/${model}${withPrice && price !== null ? `:${priceText(price)}` : ''}`);
}

function withPrice<Model extends FallbackModel | null>(recorded: Model, today: FallbackModel | null): Model {
  return recorded && { ...recorded, price: today?.price ?? recorded.price };
}

/** Custom prices determine when a cost limit is reached. */
function priceFlags(start: RunStarted, settings: Settings): string[] {
  const { limits, price } = start;
  if ((limits.maxCostUsd ?? settings.maxCostUsd) === null) return [];
  return [
    ...(price === null || mainPrice(settings.price, start) !== null ? [] : [`--price ${priceText(price)}`]),
    ...othersOf(start, settings).flatMap(({ recorded, today }) =>
      recorded.price === null || today?.price ? [] : [`--price ${nameOf(recorded, true)}`],
    ),
  ];
}
