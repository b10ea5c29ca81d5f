/** The JSON Schema that the answer of a run must match: read, checked, and applied with ajv. */

import { resolve } from 'node:path';
import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Failed, failed } from '../../domain/failed.ts';
import { findingsSchema } from '../../domain/findings/reported.ts';
import { depthOf, MAX_LEVELS } from '../../domain/text/json.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { listed, sentence } from '../../domain/text/words.ts';
import { textOf } from '../../files/regular-file.ts';
import { withinMs } from '../../files/time-limit.ts';
import { readNamedFile } from '../../git/checkout-layout.ts';
import type { AnswerSchema } from '../../ports.ts';

/** The schema that is built in; a file of this name is `./findings`. */
const FINDINGS = 'findings';

const MAX_SCHEMA_BYTES = 65_536;

/** A usable schema, or why it cannot be used. */
export type AnswerSchemaRead = { status: 'ok'; answer: AnswerSchema } | Failed;

/** The schema in a file; its path is relative to `cwd`. */
export async function readAnswerSchema(file: string, cwd: string): Promise<AnswerSchemaRead> {
  if (file === FINDINGS) return openAnswerSchema(findingsSchema());
  const name = `The schema of the answer, ${file} (--output-schema),`;
  const read = await readNamedFile(resolve(cwd, file), { maxBytes: MAX_SCHEMA_BYTES, pipes: true });
  if (read.status === 'failed') return failed(sentence(`${name} ${read.why}`));
  const text = textOf(read.bytes);
  if (text === null) return failed(`${name} is not UTF-8 text.`);
  if (depthOf(text) > MAX_LEVELS) return failed(`${name} is nested more than ${MAX_LEVELS} levels deep.`);
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return failed(`${name} is not JSON: ${oneLine(error.message, 300)}.`);
    throw error;
  }
  if (!isObject(schema)) return failed(`${name} must be a JSON object, such as {"type":"object"}.`);
  const opened = await openAnswerSchema(schema);
  return opened.status === 'ok' ? opened : failed(`${name} ${opened.message}`);
}

/** The same for a given schema. Refuses references to other documents: nothing is fetched. */
export async function openAnswerSchema(schema: AnswerSchema['schema']): Promise<AnswerSchemaRead> {
  const dialect = schema.$schema ?? DIALECTS[1];
  if (typeof dialect !== 'string' || !DIALECTS.some((known) => dialect.startsWith(known)))
    return failed(`has a $schema that is not known: use ${DIALECTS.join(' or ')}.`);
  // An extension of ajv with which a check would return a promise, and every answer would pass.
  if (schema.$async !== undefined) return failed('has $async, which is not part of JSON Schema: remove it.');
  const ajv = dialect.startsWith(DIALECTS[0]) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  try {
    const fits = ajv.compile(schema);
    const problemIn = (answer: unknown) => {
      const end = withinMs(MAX_CHECK_MS, () => fits(answer));
      if (end === 'too long') return `takes more than ${MAX_CHECK_MS / 1_000} s to compare with its schema`;
      return end ? null : describe(fits.errors ?? []);
    };
    // A reference that leads back to itself throws for every answer.
    problemIn(null);
    return { status: 'ok', answer: { schema, problemIn } };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return failed(`is not a JSON Schema that can be used: ${oneLine(error.message, 300)}.`);
  }
}

/** Time limit for one answer: some patterns take years on crafted texts. */
const MAX_CHECK_MS = 2_000;

const DIALECTS = [
  'http://json-schema.org/draft-07/schema',
  'https://json-schema.org/draft/2020-12/schema',
] as const;

/** `format` is an annotation, as in the standard. */
const OPTIONS: Options = { strict: false, allErrors: true, validateFormats: false, logger: false };

const MAX_NAMED = 10;

/** `/findings/0/line must be integer; …`. */
function describe(errors: readonly ErrorObject[]): string {
  const lines = errors.map(({ instancePath, message, params }) => {
    const what = 'additionalProperty' in params ? ` (${String(params.additionalProperty)})` : '';
    return oneLine(`${instancePath || 'as a whole'} ${message}${what}`, 300);
  });
  return `does not fit its schema: ${listed(lines, MAX_NAMED, 'problem')}`;
}

function isObject(value: unknown): value is AnswerSchema['schema'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
