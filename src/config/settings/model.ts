/** Which model does the work, how it is reached, and how long its conversation may get. */

import { DEFAULT_PROVIDER, defaultProvider, PROVIDERS } from '../../adapters/providers/registry.ts';
import { COMPACTIONS, DEFAULT_COMPACT_AT } from '../../domain/conversation/compaction.ts';
import {
  DEFAULT_OUTAGE_WAIT_MS,
  DEFAULT_RATE_LIMIT_WAIT_MS,
  EFFORTS,
} from '../../domain/run/model-settings.ts';
import { PRICES_AS_OF } from '../../domain/run/pricing.ts';
import { modelAddress } from '../values/addresses.ts';
import { duration, prices, wholeNumber } from '../values/amounts.ts';
import { choice, path, text, yesOrNo } from '../values/text.ts';
import { setting } from './setting.ts';

/** At least one; does not load their code. */
function providerNames(): [string, ...string[]] {
  return [DEFAULT_PROVIDER, ...Object.keys(PROVIDERS).filter((name) => name !== DEFAULT_PROVIDER)];
}

function providerMeanings(): string {
  const meanings = providerNames().flatMap((name) => PROVIDERS[name]?.meaning ?? []);
  return `${meanings.slice(0, -1).join(', ')}, or ${meanings.at(-1)}`;
}

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Model. */
export const MODEL_SETTINGS = {
  model: setting(text, defaultProvider.defaultModel ?? '', {
    flag: 'model', value: 'ID', group: 'Model', file: 'set', 
    help: 'Model to use; may name its provider, as in openai/gpt-5.4, unless --provider is given' }),
  provider: setting(() => choice(providerNames()), DEFAULT_PROVIDER, {
    flag: 'provider', value: providerNames().join('|'), group: 'Model', file: 'refused', alsoFor: ['resume'],
    help: `Model provider: ${providerMeanings()}` }),
  fallbackModel: setting(text, null, {
    flag: 'fallback-model', value: '[PROVIDER/]ID', group: 'Model', file: 'refused', alsoFor: ['resume'],
    help: 'Model that takes over, once, if the first one refuses or cannot be reached; from the same provider unless it names one, as in openai/gpt-5.4',
    defaultHelp: 'none: the run ends' }),
  reviewModel: setting(text, null, {
    flag: 'review-model', value: '[PROVIDER/]ID', group: 'Model', file: 'refused', alsoFor: ['resume'],
    help: 'Model that reviews, as with --review; from the same provider unless it names one, as in openai/gpt-5.4',
    defaultHelp: 'the one that does the work' }),
  recording: setting(path, null, {
    flag: 'recording', value: 'FILE', group: 'Model', file: 'refused',
    help: 'What --provider replay plays: a journal (events.jsonl), or a hand-written script (YAML, JSONL)' }),
  effort: setting(() => choice(EFFORTS), null, {
    flag: 'effort', value: EFFORTS.join('|'), group: 'Model', file: 'set',
    help: 'How much the model thinks', defaultHelp: "the model's own" }),
  baseUrl: setting(modelAddress, null, {
    flag: 'base-url', value: 'URL', providerVariable: 'baseUrlVariable', group: 'Model', file: 'refused', alsoFor: ['resume'],
    help: "Address of the provider's API", defaultHelp: "the vendor's" }),
  allowInsecureBaseUrl: setting(yesOrNo, false, {
    flag: 'allow-insecure-base-url', group: 'Model', file: 'refused', alsoFor: ['resume'],
    help: 'Permit a base URL with plain http on another host, such as a gateway inside a cluster: key and conversation can be read in transit' }),
  maxOutputTokens: setting(() => wholeNumber(8192), 32_000, {
    flag: 'max-output-tokens', value: 'N', group: 'Model', file: 'lower', alsoFor: ['resume'],
    help: 'Maximum tokens of one answer, at least 8192' }),
  compaction: setting(() => choice(COMPACTIONS), 'summarize', {
    flag: 'compaction', value: COMPACTIONS.join('|'), group: 'Model', file: 'set',
    help: "How a long conversation is shortened: not at all, by a summary of the model, or by the API's own compaction if it has one for the model" }),
  compactAt: setting(() => wholeNumber(1), null, {
    flag: 'compact-at', value: 'N', group: 'Model', file: 'set',
    help: 'Shorten it once the last request and its answer have this many tokens, cached ones included',
    defaultHelp: `${DEFAULT_COMPACT_AT}, or 60% of a smaller window` }),
  idleTimeoutMs: setting(duration, 120_000, {
    flag: 'idle-timeout', value: 'TIME', group: 'Model', file: 'set',
    help: 'How long the model may be silent, before or during its answer, until the request is retried' }),
  rateLimitWaitMs: setting(duration, DEFAULT_RATE_LIMIT_WAIT_MS, {
    flag: 'rate-limit-wait', value: 'TIME', group: 'Model', file: 'set',
    help: 'How long to wait out a rate limit: retries come after 10 s, 20 s and so on (5 by default), or when the API says. If it asks for a longer wait, the run ends at once' }),
  outageWaitMs: setting(duration, DEFAULT_OUTAGE_WAIT_MS, {
    flag: 'outage-wait', value: 'TIME', group: 'Model', file: 'set',
    help: 'How long to wait out an outage (overload, server errors, no connection): retries come after 0.5 s, 1 s and so on, at most 30 s apart' }),
  price: setting(prices, [], {
    flag: 'price', value: '[MODEL:]PRICES', repeatable: true, group: 'Model', file: 'refused', alsoFor: ['resume'],
    help: 'USD per million tokens: input=2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4; for an additional model, such as the fallback model, with its name in front, as in openai/gpt-5.4:input=…',
    defaultHelp: `the built-in table of ${PRICES_AS_OF}` }),
};
