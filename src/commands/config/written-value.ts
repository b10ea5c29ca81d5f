/** Values of settings in the form in which flags and the project file take them. */

import type { SettingEntry, Settings } from '../../config/schema.ts';
import { type Since, sizeText } from '../../config/values/amounts.ts';
import { type GivenPrice, priceText } from '../../domain/run/pricing.ts';

/** What replaces a value that must not be shown. */
export const MASKED = '***';

/**
 * The value as people would write it: `30m`, `10g`, `Ann Onym <ann@example.org>`. Null means "not given". What MCP servers get in `env`
 * and `headers`, and queries of their addresses, are masked.
 */
export function writtenValue(settings: Settings, { key, value: placeholder }: SettingEntry): unknown {
  switch (key) {
    case 'price':
      return settings.price.map(givenPriceText);
    case 'since':
      return settings.since && sinceText(settings.since);
    case 'mcp':
      return Array.isArray(settings.mcp) ? settings.mcp.map(withoutQuery) : maskedServers(settings.mcp);
    default: {
      const value = settings[key];
      if (typeof value !== 'number') return Array.isArray(value) ? value.map(personOr) : personOr(value);
      if (placeholder === 'SIZE') return sizeText(value);
      return key.endsWith('Ms') ? timeText(value) : value;
    }
  }
}

/** In the largest unit that makes it a whole number. */
function timeText(ms: number): string {
  for (const [unit, length] of [
    ['h', 3_600_000],
    ['m', 60_000],
  ] as const) {
    if (ms > 0 && ms % length === 0) return `${ms / length}${unit}`;
  }
  return `${ms / 1_000}s`;
}

function sinceText(since: Since): string {
  return 'at' in since ? new Date(since.at).toISOString().slice(0, 10) : timeText(since.agoMs);
}

/** People are written as in commits. */
function personOr(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return 'name' in value && 'email' in value ? `${value.name} <${value.email}>` : value;
}

function givenPriceText({ model, price }: GivenPrice): string {
  return model === null ? priceText(price) : `${model}:${priceText(price)}`;
}

function withoutQuery(text: string): string {
  return text.replace(/^(\s*[^\s=]+=\s*https?:\/\/[^?]*\?).*$/s, `$1${MASKED}`);
}

function maskedServers(servers: object): object {
  const entries = Object.entries(servers).map(([name, server]): [string, unknown] => {
    const fields: Record<string, unknown> = { ...server };
    for (const kind of ['env', 'headers']) {
      const values = fields[kind];
      if (typeof values !== 'object' || values === null) continue;
      fields[kind] = Object.fromEntries(Object.keys(values).map((field) => [field, MASKED]));
    }
    return [name, fields];
  });
  return Object.fromEntries(entries);
}
