/** Texts of servers, which anyone may have written: bounded, and without what people cannot see. */

import { isNestedWithin } from '../text/json.ts';

/** Characters that hide text or change how it reads; tabs and line breaks stay, and so do the joiners of scripts and emoji. */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** The text as people see it; CRLF becomes LF. */
export function asSeen(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSEEN, '');
}

/** Most characters of the JSON of a tool's input schema. */
const MAX_SCHEMA = 20_000;

/** Most levels of lists and objects in it. */
const MAX_LEVELS = 64;

/** A schema for the model, or why it cannot be used. */
export type ForeignSchema =
  | { status: 'ok'; schema: Record<string, unknown> }
  | { status: 'failed'; why: string };

/** Names of parameters that every model's API accepts. */
const PARAMETER = /^[A-Za-z0-9_.-]{1,64}$/;
/** Keywords that no API accepts at the top of a schema. */
const NOT_AT_TOP = ['anyOf', 'oneOf', 'allOf', 'not', 'enum'];

/** The schema of a tool's input without what the models' APIs refuse, since one refused tool ends the whole run. */
export function foreignSchema(given: Readonly<Record<string, unknown>>): ForeignSchema {
  if (!isNestedWithin(given, MAX_LEVELS))
    return { status: 'failed', why: `its schema is nested more than ${MAX_LEVELS} levels deep` };
  const { $schema: _, ...own } = given;
  const refused = NOT_AT_TOP.find((name) => Object.hasOwn(own, name));
  if (refused !== undefined) return { status: 'failed', why: `its schema has ${refused} at its top` };
  if (own.type !== 'object') return { status: 'failed', why: 'its schema is not that of an object' };
  const names = isRecord(own.properties) ? Object.keys(own.properties) : [];
  if (!names.every((name) => PARAMETER.test(name)))
    return { status: 'failed', why: 'one of its parameters has a name that models do not accept' };
  const schema = cleaned(own);
  if (!isRecord(schema)) return { status: 'failed', why: 'its schema is not that of an object' };
  if (JSON.stringify(schema).length > MAX_SCHEMA)
    return { status: 'failed', why: `its schema is larger than ${MAX_SCHEMA} characters` };
  return { status: 'ok', schema };
}

/** Every text in it as people see it; keys stay as they are. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return asSeen(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cleaned(part)]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
