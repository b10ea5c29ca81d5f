/** What tokens cost. Prices change: this is the only table, and users can override it. */

import * as z from 'zod';
import { totalTokens, type Usage } from '../conversation/conversation.ts';

/** USD per million tokens. */
export const Price = z.strictObject({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cacheWrite: z.number().nonnegative(),
  cacheWrite1h: z.number().nonnegative(),
  cacheRead: z.number().nonnegative(),
});
export type Price = z.infer<typeof Price>;

/** A price that the operator gave. `model` is `ID` or `PROVIDER/ID`; null for the model that the run begins with. */
export interface GivenPrice {
  readonly model: string | null;
  readonly price: Price;
}

/** Whether a price was given for a model by its name. */
export function isPriceOf(
  given: GivenPrice,
  { provider, model }: { readonly provider: string; readonly model: string },
): boolean {
  return given.model === model || given.model === `${provider}/${model}`;
}

/** The price that was given for a model by its name; null where none was. */
export function priceByName(
  given: readonly GivenPrice[],
  asked: { readonly provider: string; readonly model: string },
): Price | null {
  return given.find((one) => isPriceOf(one, asked))?.price ?? null;
}

/** The price that was given for the model that a run begins with; null where none was. */
export function mainPrice(
  given: readonly GivenPrice[],
  main: { readonly provider: string; readonly model: string },
): Price | null {
  return priceByName(given, main) ?? given.find(({ model }) => model === null)?.price ?? null;
}

/** A price as `--price` takes it. */
export function priceText({ input, output, cacheRead, cacheWrite, cacheWrite1h }: Price): string {
  return `input=${input},output=${output},cache-read=${cacheRead},cache-write=${cacheWrite},cache-write-1h=${cacheWrite1h}`;
}

/** `longPrompt` applies to the whole request when its prompt has more than that many tokens. */
interface ModelPrice {
  readonly price: Price;
  readonly longPrompt?: { readonly overTokens: number; readonly price: Price };
}

/** The day on which the table was compared with the vendor's price page. */
export const PRICES_AS_OF = '2026-11-21';

const sonnet4: Price = { input: 3, output: 15, cacheWrite: 3.75, cacheWrite1h: 6, cacheRead: 0.3 };

const PRICES: Readonly<Record<string, ModelPrice>> = {
  'claude-sonnet-5-5': { price: { input: 2, output: 10, cacheWrite: 2.5, cacheWrite1h: 4, cacheRead: 0.1 } },
  'claude-opus-5-5': { price: { input: 4, output: 20, cacheWrite: 5, cacheWrite1h: 8, cacheRead: 0.2 } },
  'claude-haiku-5-5': {
    price: { input: 0.1, output: 0.5, cacheWrite: 0.125, cacheWrite1h: 0.2, cacheRead: 0.01 },
    longPrompt: {
      overTokens: 100_000,
      price: { input: 0.5, output: 2.5, cacheWrite: 0.625, cacheWrite1h: 1, cacheRead: 0.05 },
    },
  },
  'claude-sonnet-4-6': { price: sonnet4 },
  'claude-sonnet-4-5': { price: sonnet4 },
};

/**
 * Cost of one answer in USD; null when the model's price is unknown. `override` replaces the table. No tokens cost nothing.
 */
export function costOf(model: string, usage: Usage, override: Price | null): number | null {
  if (totalTokens(usage) === 0) return 0;
  const price = override ?? priceFor(model, totalTokens(usage) - usage.output);
  if (price === null) return null;
  return (
    (usage.input * price.input +
      usage.output * price.output +
      usage.cacheRead * price.cacheRead +
      usage.cacheWrite * price.cacheWrite +
      usage.cacheWrite1h * price.cacheWrite1h) /
    1_000_000
  );
}

/**
 * USD per token that a request is reckoned with before it is sent; null when the model's price is not known. Any token of the
 * prompt may have to be written to the cache, also one that was in it a moment ago.
 */
export function reservedPrice(
  model: string,
  promptTokens: number,
  override: Price | null,
): { prompt: number; output: number; kind: 'input' | 'cacheWrite' | 'cacheRead' } | null {
  const price = override ?? priceFor(model, promptTokens);
  if (price === null) return null;
  const { input, cacheWrite, cacheRead, output } = price;
  const prompt = Math.max(input, cacheWrite, cacheRead);
  const kind = prompt === input ? 'input' : prompt === cacheWrite ? 'cacheWrite' : 'cacheRead';
  return { prompt: prompt / 1_000_000, output: output / 1_000_000, kind };
}

/** True when the table knows the model. A dated id such as `claude-sonnet-4-5-20250929` has its family's price. */
export function hasPrice(model: string): boolean {
  return priceFor(model, 0) !== null;
}

function priceFor(model: string, promptTokens: number): Price | null {
  const entry = PRICES[model] ?? PRICES[model.replace(/-\d{8}$/, '')];
  if (!entry) return null;
  return entry.longPrompt && promptTokens > entry.longPrompt.overTokens
    ? entry.longPrompt.price
    : entry.price;
}
