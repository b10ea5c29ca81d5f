/** `patchsmith config`, and `--print-config` of `run`: every setting with its value, and where that comes from. */

import { keyVariablesAt, providerNamed } from '../../adapters/providers/registry.ts';
import { PROJECT_FILE } from '../../config/resolve.ts';
import {
  defaultText,
  type SettingEntry,
  type SettingSource,
  type Settings,
  settingEntries,
} from '../../config/schema.ts';
import { durationText, sizeText } from '../../config/values/amounts.ts';
import { done } from '../../domain/run/outcome.ts';
import { priceText } from '../../domain/run/pricing.ts';
import { columns, jsonDocument } from '../../domain/text/terminal.ts';
import { pluralize } from '../../domain/text/words.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import { sayEnd, sayTo } from '../../host/say.ts';
import type { Given } from '../command.ts';
import { type RunParts, readRunParts } from '../inputs.ts';
import { handOver } from '../work.ts';

type ValidParts = Exclude<RunParts, { settings: null }>;

/** A setting in the JSON document. `at` is the flag, the variable, or the file with its line; null for a default. */
interface Row {
  readonly name: string;
  readonly value: unknown;
  readonly from: SettingSource['from'];
  readonly at: string | null;
  /** Where a value is that does not count, because this one overrides it. */
  readonly over: readonly string[];
}

/** Asks no model and changes nothing. With a mistake in any of the settings it only says what is wrong. */
export async function showConfig(
  context: HostContext,
  { flags, switches, problems }: Given,
): Promise<CommandOutcome> {
  const parts = await readRunParts(context, flags, problems);
  if (parts.settings === null || parts.problems.length > 0)
    return { status: 'refused', problems: parts.problems };
  const entries = settingEntries(providerNamed(parts.settings.provider) ?? undefined);
  const rows = entries.map((entry) => rowOf(entry, parts));
  const ofKey = keyOf(context, parts);
  const isJson = switches.has('json');
  const document = isJson
    ? jsonDocument({ version: 1, patchsmith: context.version, settings: rows, key: ofKey }, context.redact)
    : tableOf(context, entries, rows, ofKey);
  const unread = await handOver(context, document);
  const say = sayTo(context);
  for (const note of parts.input.startNotes) say(`warning: ${note}`);
  const outcome = (isJson ? unread : null) ?? done(summaryOf(rows, parts));
  return sayEnd(context, outcome);
}

function rowOf(entry: SettingEntry, { settings, sources }: ValidParts): Row {
  const { from, name, over } = sources[entry.key];
  const at = from === 'default' ? null : name;
  return { name: entry.flag, value: writtenValue(settings, entry), from, at, over };
}

/** The key is not a setting: it has no flag, and its value is never shown. Null if the provider needs none. */
function keyOf({ env }: HostContext, { settings, input: { apiKey: key } }: ValidParts) {
  const provider = providerNamed(settings.provider);
  const variables = provider === null ? [] : keyVariablesAt(provider, settings.baseUrl);
  const [first] = variables;
  if (first === undefined) return null;
  const given = variables.find((variable) => env[variable]?.trim());
  return key === null
    ? { name: first, value: null, at: null }
    : { name: given ?? first, value: MASKED, at: given ?? '.env' };
}

const HEAD = ['SETTING', 'FROM', 'VALUE'];
/** Longest text of a column. */
const WIDEST = [32, 120, 400];

function tableOf(
  context: HostContext,
  entries: readonly SettingEntry[],
  rows: readonly Row[],
  key: ReturnType<typeof keyOf>,
): string {
  const lines = entries.flatMap((entry, at): string[][] => {
    const row = rows[at];
    return row === undefined ? [] : [[row.name, originOf(row), valueText(row, entry)]];
  });
  const ofKey = key === null ? [] : [[key.name, key.at ?? 'nowhere', key.value ?? '(none)']];
  return columns([HEAD, ...ofKey, ...lines], WIDEST, context.redact);
}

function originOf({ at, over }: Row): string {
  return [at ?? 'default', ...(over.length > 0 ? [`over ${over.join(', ')}`] : [])].join(' ');
}

/** The meaning of absence is in brackets. */
function valueText({ value, from }: Row, entry: SettingEntry): string {
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
  if (isEmpty) return from === 'default' ? `(${defaultText(entry)})` : '(none)';
  if (Array.isArray(value)) return value.map((item) => JSON.stringify(item)).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function summaryOf(rows: readonly Row[], { hasFile, input: { trust } }: ValidParts): string {
  const given = rows.filter(({ from }) => from !== 'default').length;
  const refused = trust?.refusal ?? null;
  const file =
    refused === null
      ? `${PROJECT_FILE} ${hasFile ? 'was read' : 'does not exist'}${trust?.revision ? ' in the commit that rules come from' : ''}`
      : `${PROJECT_FILE} was not read, since no run would start: ${refused.reason}`;
  return `${pluralize(rows.length, 'setting')}, ${given} of them given; ${file}${/[.!?]$/.test(file) ? '' : '.'}`;
}

/** What replaces a value that must not be shown. */
const MASKED = '***';

/**
 * The value as people would write it: `30m`, `10g`, `Ann Onym <ann@example.org>`. Null means "not given". What MCP servers get in `env`
 * and `headers`, and queries of their addresses, are masked.
 */
export function writtenValue(settings: Settings, { key, value: placeholder }: SettingEntry): unknown {
  switch (key) {
    case 'price':
      return settings.price.map(({ model, price }) =>
        model === null ? priceText(price) : `${model}:${priceText(price)}`,
      );
    case 'since':
      return settings.since && 'at' in settings.since
        ? new Date(settings.since.at).toISOString().slice(0, 10)
        : settings.since && durationText(settings.since.agoMs);
    case 'mcp':
      return Array.isArray(settings.mcp)
        ? settings.mcp.map((text) => text.replace(/^(\s*[^\s=]+=\s*https?:\/\/[^?]*\?).*$/s, `$1${MASKED}`))
        : maskedServers(settings.mcp);
    default: {
      const value = settings[key];
      if (typeof value !== 'number') return Array.isArray(value) ? value.map(personOr) : personOr(value);
      if (placeholder === 'SIZE') return sizeText(value);
      return key.endsWith('Ms') ? durationText(value) : value;
    }
  }
}

/** People are written as in commits. */
function personOr(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return 'name' in value && 'email' in value ? `${value.name} <${value.email}>` : value;
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
