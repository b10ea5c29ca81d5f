/** Opens the model that a run talks to. */

import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import { ProviderSettingsError } from '../../adapters/providers/asking/endpoint.ts';
import {
  createProvider,
  PROVIDERS,
  type ProviderRegistry,
  providerNamed,
} from '../../adapters/providers/registry.ts';
import { otherModels } from '../../config/named-provider.ts';
import type { Settings } from '../../config/schema.ts';
import { isPlainHttp } from '../../config/values/addresses.ts';
import { absolutePath } from '../../domain/changes/path.ts';
import { defaultCompactAt, windowOf } from '../../domain/conversation/compaction.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import type { FallbackModel } from '../../domain/fallback.ts';
import type { ReviewSettings } from '../../domain/findings/review.ts';
import type { ModelSettings } from '../../domain/run/model-settings.ts';
import { type Price, priceByName } from '../../domain/run/pricing.ts';
import type { LlmProvider, TurnRequest } from '../../ports.ts';
import type { Session } from '../session.ts';

/** The requested model: from the settings of a new run, from the journal of a resumed one. */
export interface ModelChoice {
  readonly provider: string;
  readonly model: string;
  readonly settings: ModelSettings;
}

/** The model that the settings choose. */
export function modelChoiceOf({ provider, model, ...settings }: Settings): ModelChoice {
  const { effort, maxOutputTokens, idleTimeoutMs, rateLimitWaitMs, outageWaitMs } = settings;
  const waits = { idleTimeoutMs, rateLimitWaitMs, outageWaitMs };
  return { provider, model, settings: { effort, maxOutputTokens, ...waits } };
}

/** An open provider, or why there is none. */
export type Providing = { status: 'ok'; provider: LlmProvider } | Failed;

/**
 * A provider that is never asked, for a check: its settings are checked as for a run, unless there is no key, which the caller
 * reports.
 */
export async function openUnasked(session: Session, choice: ModelChoice): Promise<Providing> {
  const { apiKey, federation, providers = PROVIDERS } = session.input;
  const needsKey = (providerNamed(choice.provider, providers)?.keyVariable ?? null) !== null;
  const isKeyless = needsKey && apiKey === null && federation === undefined;
  const opened = isKeyless ? null : await openProvider(session, choice);
  if (opened?.status === 'failed') {
    session.stage = 'model';
    return opened;
  }
  const provider = opened?.provider ?? { name: choice.provider, model: choice.model };
  return { status: 'ok', provider: { ...provider, complete: refuse } };
}

async function refuse(): Promise<never> {
  throw new Error('A check was about to ask the model.');
}

/** The fallback model as a run records it, or null. */
export function fallbackOf(
  settings: Settings,
  providers: ProviderRegistry = PROVIDERS,
): FallbackModel | null {
  const parts = otherModels(settings).fallback;
  if (parts === null) return null;
  const { compactAt } = settings;
  return {
    ...parts,
    price: priceOf(parts, settings, providers),
    compactAt: compactAt ?? defaultCompactAt(windowOf(parts.model)),
  };
}

/** How the finished work is reviewed, as a run records it; null if it is not. */
export function reviewOf(settings: Settings, providers: ProviderRegistry = PROVIDERS): ReviewSettings | null {
  const { review, reviewModel, ifNotReviewed } = settings;
  return review || reviewModel !== null ? { by: reviewerOf(settings, providers), ifNotReviewed } : null;
}

/** The model of `--review-model`; null if the working model reviews. */
export function reviewerOf(
  settings: Settings,
  providers: ProviderRegistry = PROVIDERS,
): FallbackModel | null {
  const parts = otherModels(settings).reviewer;
  return parts && { ...parts, price: priceOf(parts, settings, providers) };
}

/** The price that was given for another model than the first, or its provider's; null leaves it to the table. */
function priceOf(
  parts: Pick<ModelChoice, 'provider' | 'model'>,
  { price }: Settings,
  providers: ProviderRegistry,
): Price | null {
  return (
    priceByName(price, parts) ?? providerNamed(parts.provider, providers)?.priceOf?.(parts.model) ?? null
  );
}

/** Models that a run may ask besides the first one. */
type OtherModels = Readonly<Record<'fallback' | 'reviewer', FallbackModel | null>>;

/** The key, and the address it is sent to, come only from the caller of this process. */
export async function openProvider(
  session: Session,
  choice: ModelChoice,
  others: OtherModels = {
    fallback: fallbackOf(session.input.settings, session.input.providers),
    reviewer: reviewOf(session.input.settings, session.input.providers)?.by ?? null,
  },
): Promise<Providing> {
  const first = await openOne(session, choice, {
    apiKey: session.input.apiKey,
    baseUrl: session.input.settings.baseUrl,
  });
  if (first.status === 'failed') return first;
  const fallback = await openOther(session, choice, others.fallback);
  if (fallback?.status === 'failed') return failed(`--fallback-model: ${fallback.message}`);
  const reviewer = await openOther(session, choice, others.reviewer);
  if (reviewer?.status === 'failed') return failed(`--review-model: ${reviewer.message}`);
  const more = { fallback: fallback?.provider ?? null, reviewer: reviewer?.provider ?? null };
  return { status: 'ok', provider: eachForItself(first.provider, more) };
}

async function openOther(
  session: Session,
  choice: ModelChoice,
  other: FallbackModel | null,
): Promise<Providing | null> {
  const { apiKey, otherKeys = {}, settings, env, providers } = session.input;
  if (other === null) return null;
  const { provider, model } = other;
  if (provider === choice.provider)
    return openOne(session, { ...choice, model }, { apiKey, baseUrl: settings.baseUrl });
  const variable = providerNamed(provider, providers)?.baseUrlVariable ?? null;
  const baseUrl = (variable === null ? null : env[variable]) || null;
  return openOne(session, { ...choice, provider, model }, { apiKey: otherKeys[provider] ?? null, baseUrl });
}

/** Several models as one provider, by the name of the first. */
function eachForItself(
  first: LlmProvider,
  { fallback, reviewer }: Readonly<Record<'fallback' | 'reviewer', LlmProvider | null>>,
): LlmProvider {
  if (fallback === null && reviewer === null) return first;
  const asked = ({ isOfFallback, purpose }: TurnRequest) =>
    (purpose === 'review' ? reviewer : null) ?? (isOfFallback === true ? fallback : null) ?? first;
  return {
    name: first.name,
    model: first.model,
    complete: (request) => asked(request).complete(request),
  };
}

async function openOne(
  session: Session,
  choice: ModelChoice,
  { apiKey, baseUrl }: { apiKey: string | null; baseUrl: string | null },
): Promise<Providing> {
  const { settings, federation, cwd, env, now, providers = PROVIDERS } = session.input;
  const { allowInsecureBaseUrl, recording } = settings;
  const canLogIn = providerNamed(choice.provider, providers)?.federation !== null;
  const plainHttp = baseUrl !== null && isPlainHttp(baseUrl);
  if (plainHttp)
    session.warn(
      'WARN_PLAIN_HTTP',
      `The key and the whole conversation go to ${baseUrl} over plain http, where others can read and change them in transit (--allow-insecure-base-url).`,
    );
  try {
    const given = {
      apiKey,
      ...(federation === undefined || !canLogIn ? {} : { federation }),
      model: choice.model,
      ...(baseUrl === null ? {} : { baseUrl, allowInsecureBaseUrl }),
      ...choice.settings,
      fetch: session.asked.recording('provider', await fetchByEnvironment(env, { plainHttp })),
      clock: now,
      env,
      recording: recording === null ? null : absolutePath(cwd, recording),
    };
    const provider = await createProvider(choice.provider, given, providers);
    return { status: 'ok', provider };
  } catch (error) {
    if (error instanceof ProviderSettingsError) return failed(error.message);
    throw error;
  }
}
