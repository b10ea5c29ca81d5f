import { z } from 'zod';
import { defaultText, type SettingEntry, settingEntries } from '../../src/config/schema.ts';
import { ServerEntries } from '../../src/domain/mcp/server-spec.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * `docs/patchsmith.schema.json`: the JSON schema of `.patchsmith.yml`, for editors. It accepts everything that
 * patchsmith accepts; only patchsmith itself can check what depends on the operator's settings or on the content of a
 * string.
 */
export function projectFileSchema(): string {
  const settable = settingEntries().filter(({ file }) => file !== 'refused');
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://raw.githubusercontent.com/OWNER/patchsmith/main/docs/patchsmith.schema.json',
    title: 'patchsmith project file',
    description: '.patchsmith.yml: settings of patchsmith for every plan of a repository',
    type: 'object',
    properties: Object.fromEntries(settable.map((entry) => [entry.flag, propertyOf(entry)])),
    additionalProperties: false,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function propertyOf(entry: SettingEntry): Json {
  const rule = {
    set: '',
    lower: ' A project file may only lower it.',
    narrow: ' A project file may only leave out what the operator allows.',
    refused: '',
  }[entry.file];
  return { description: `${entry.help}. Default: ${defaultText(entry)}.${rule}`, ...writtenAs(entry) };
}

function writtenAs(entry: SettingEntry): Json {
  const { key, file, initial, type } = entry;
  if (key === 'sandbox') return { const: 'required' };
  if (key === 'mcp') return { anyOf: [SERVERS, TEXTS] };
  const written = inJson(type());
  if (file !== 'lower' || typeof initial !== 'number') return written;
  const most = key.endsWith('Ms') ? initial / 1_000 : initial;
  return {
    ...written,
    anyOf: alternatives(written).map((one) => ('maximum' in one ? { ...one, maximum: most } : one)),
  };
}

/** A value in the file is never null: a line without a value is a mistake. */
function inJson(type: z.ZodType): Json {
  const { $schema: _, ...schema } = z.toJSONSchema(type instanceof z.ZodNullable ? notNull(type) : type, {
    io: 'input',
  });
  return schema;
}

function notNull(type: z.ZodNullable): z.ZodType {
  const inner = type.unwrap();
  if (!(inner instanceof z.ZodType)) throw new Error('A nullable setting has no type inside.');
  return inner;
}

function alternatives(schema: Json): object[] {
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) throw new Error('A number that can only be lowered has no alternatives.');
  return anyOf;
}

const TEXT = { type: 'string' };
const TEXTS = { anyOf: [TEXT, { type: 'array', items: TEXT }] };

/** A project file can only name programs, which run in the sandbox. */
const SERVERS = {
  type: 'object',
  additionalProperties: serverInFile(),
};

function serverInFile(): Json {
  const { additionalProperties } = z.toJSONSchema(ServerEntries, { io: 'input' });
  if (typeof additionalProperties !== 'object') throw new Error('The servers have no schema.');
  const { url: _url, headers: _headers, ...properties } = additionalProperties.properties ?? {};
  return {
    ...additionalProperties,
    properties: { ...properties, type: { const: 'stdio' }, sandbox: { const: true } },
    required: ['command'],
  };
}
