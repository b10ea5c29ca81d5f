/** From the schemas of OpenAPI 3.0 to JSON Schema, and to sample values. */

/** A schema or a part of the description, as its JSON is. */
export type Schema = Readonly<Record<string, unknown>>;

/** Formats that mean something to a client; `int64` and the like say nothing that `type` does not. */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text),
  uri: (text) => URL.canParse(text),
  email: (text) => text.includes('@'),
};

const COPIED = [
  'type',
  'enum',
  'required',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
];

/** Turns `nullable` into a type, and gives each `$ref` the id that `idOf` answers. */
export function toJsonSchema(schema: Schema, idOf: (ref: string) => string): Schema {
  if (typeof schema.$ref === 'string') return { $ref: idOf(schema.$ref) };
  const inner = (value: unknown): Schema => toJsonSchema(value as Schema, idOf);
  const out: Record<string, unknown> = {};
  for (const key of COPIED) if (schema[key] !== undefined) out[key] = schema[key];
  if (typeof schema.format === 'string' && schema.format in FORMATS) out.format = schema.format;
  if (schema.properties !== undefined) out.properties = mapValues(schema.properties as Schema, inner);
  if (schema.items !== undefined) out.items = inner(schema.items);
  if (typeof schema.additionalProperties === 'object') {
    out.additionalProperties = inner(schema.additionalProperties);
  } else if (schema.additionalProperties === false) out.additionalProperties = false;
  if (schema.not !== undefined) out.not = inner(schema.not);
  if (Array.isArray(schema.allOf)) out.allOf = schema.allOf.map(inner);
  // The description's alternatives overlap (a nullable string or a nullable list), so one or more may match.
  const choices = [...((schema.anyOf as Schema[]) ?? []), ...((schema.oneOf as Schema[]) ?? [])];
  if (choices.length > 0) out.anyOf = choices.map(inner);
  if (schema.nullable !== true) return out;
  if (typeof out.type !== 'string') return { anyOf: [out, { type: 'null' }] };
  return {
    ...out,
    type: [out.type, 'null'],
    ...(Array.isArray(out.enum) ? { enum: [...out.enum, null] } : {}),
  };
}

/**
 * Adds what a schema requires and `value` leaves out, so that an answer states only what tests can see and is still
 * whole. What is added is null where that is allowed, else a sample.
 */
export function completed(value: unknown, schema: Schema, resolve: (ref: string) => Schema): unknown {
  const whole = merged(schema, resolve);
  if (value === undefined) return sample(whole, resolve);
  if (Array.isArray(value)) {
    const items = whole.items ?? choiceFor(value, whole, resolve)?.items;
    return items === undefined ? value : value.map((item) => completed(item, items as Schema, resolve));
  }
  if (typeof value !== 'object' || value === null) return value;
  const choice = choiceFor(value, whole, resolve);
  const properties = { ...((whole.properties as Schema) ?? {}), ...((choice?.properties as Schema) ?? {}) };
  const required = [...((whole.required as string[]) ?? []), ...((choice?.required as string[]) ?? [])];
  const out: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const inner = properties[key] as Schema | undefined;
    out[key] = inner === undefined ? field : completed(field, inner, resolve);
  }
  for (const key of required) {
    if (!(key in out))
      out[key] = completed(undefined, (properties[key] as Schema | undefined) ?? {}, resolve);
  }
  return out;
}

function sample(schema: Schema, resolve: (ref: string) => Schema): unknown {
  if (schema.nullable === true) return null;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [choice] = [...((schema.anyOf as Schema[]) ?? []), ...((schema.oneOf as Schema[]) ?? [])];
  if (choice !== undefined && schema.type === undefined) return completed(undefined, choice, resolve);
  switch (schema.type) {
    case 'string':
      return sampleText(schema);
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    default:
      return completed({}, schema, resolve);
  }
}

function sampleText(schema: Schema): string {
  if (schema.format === 'uri') return 'https://api.github.com/sample';
  if (schema.format === 'date-time') return '2026-01-01T00:00:00Z';
  return typeof schema.example === 'string' ? schema.example : '';
}

/** References followed, and the parts of `allOf` laid over each other. */
function merged(schema: Schema, resolve: (ref: string) => Schema): Schema {
  if (typeof schema.$ref === 'string') return merged(resolve(schema.$ref), resolve);
  if (!Array.isArray(schema.allOf)) return schema;
  const parts = [schema, ...(schema.allOf as Schema[]).map((part) => merged(part, resolve))];
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map((part) => part.properties)),
    required: parts.flatMap((part) => (part.required as string[] | undefined) ?? []),
    nullable: schema.nullable,
    allOf: undefined,
  };
}

function choiceFor(value: object, schema: Schema, resolve: (ref: string) => Schema): Schema | undefined {
  const choices = [...((schema.anyOf as Schema[]) ?? []), ...((schema.oneOf as Schema[]) ?? [])];
  const type = Array.isArray(value) ? 'array' : 'object';
  return choices.map((choice) => merged(choice, resolve)).find((choice) => choice.type === type);
}

function mapValues(record: Schema, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
