/** What the Gemini API refuses in a request: fields it does not know, calls without results, parts that were changed. */

import { imageProblem } from '../files/images.ts';

/** A refusal in the words of the API. */
export class GeminiRefusal extends Error {
  readonly status: number;
  readonly type: string;
  constructor(message: string, status = 400, type = 'INVALID_ARGUMENT') {
    super(message);
    this.status = status;
    this.type = type;
  }
}

type Fields = Record<string, unknown>;

function fieldsOf(value: unknown, path: string, allowed: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new GeminiRefusal(`Invalid value at '${path}': expected an object`);
  for (const field of Object.keys(value))
    if (!allowed.includes(field))
      throw new GeminiRefusal(
        `Invalid JSON payload received. Unknown name "${field}" at '${path}': Cannot find field.`,
      );
  return value as Fields;
}

function listOf(value: unknown, path: string): unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw new GeminiRefusal(`${path} is not specified`);
  return value;
}

const SCHEMA = ['type', 'description', 'enum', 'items', 'minItems', 'maxItems', 'minimum', 'maximum'].concat([
  'anyOf',
  'properties',
  'additionalProperties',
  'required',
  'format',
  'title',
  'oneOf',
  '$ref',
  '$defs',
]);

function checkSchema(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  const { properties, items } = fieldsOf(value, path, SCHEMA);
  for (const [name, one] of Object.entries((properties as Fields | undefined) ?? {}))
    checkSchema(one, `${path}.${name}`);
  checkSchema(items, `${path}.items`);
}

/** Rules of `streamGenerateContent`. `sent`: the parts of each content that the server sent, as JSON. */
export function checkGemini(body: Fields, sent: ReadonlySet<string>): void {
  fieldsOf(body, '', ['contents', 'systemInstruction', 'tools', 'generationConfig']);
  const config = fieldsOf(body.generationConfig, 'generation_config', ['maxOutputTokens', 'thinkingConfig']);
  if (config.thinkingConfig !== undefined) {
    const thinking = fieldsOf(config.thinkingConfig, 'thinking_config', ['thinkingLevel', 'includeThoughts']);
    if (
      ![undefined, 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'].includes(thinking.thinkingLevel as string | undefined)
    )
      throw new GeminiRefusal(`Invalid value at 'thinking_level': ${String(thinking.thinkingLevel)}`);
  }
  for (const tool of (body.tools as unknown[] | undefined) ?? []) {
    const { functionDeclarations } = fieldsOf(tool, 'tools', ['functionDeclarations']);
    for (const given of listOf(functionDeclarations, 'function_declarations')) {
      const one = fieldsOf(given, 'function_declarations', ['name', 'description', 'parametersJsonSchema']);
      checkSchema(one.parametersJsonSchema, `${String(one.name)}.parameters`);
    }
  }
  let due: Fields[] = [];
  for (const [index, given] of listOf(body.contents, 'contents').entries()) {
    const path = `contents[${index}]`;
    const { role, parts } = fieldsOf(given, path, ['role', 'parts']);
    const all = listOf(parts, `${path}.parts`) as Fields[];
    if (role === 'model') {
      if (due.length > 0) throw new GeminiRefusal(UNEQUAL);
      if (!sent.has(JSON.stringify(all)))
        throw new GeminiRefusal(
          `Thought signature is not valid in ${path}: parts that differ from those that were sent.`,
        );
      due = all.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall as Fields]));
      continue;
    }
    if (role !== 'user') throw new GeminiRefusal('Please use a valid role: user, model.');
    for (const part of all) {
      fieldsOf(part, `${path}.parts`, ['text', 'functionResponse', 'inlineData']);
      if (part.inlineData !== undefined) checkInlineData(part.inlineData, path);
      if (part.text === '')
        throw new GeminiRefusal('Unable to submit request because it has an empty text parameter.');
    }
    const results = all.flatMap(({ functionResponse: one }) =>
      one === undefined ? [] : [fieldsOf(one, `${path}.function_response`, ['name', 'id', 'response'])],
    );
    if (results.length !== due.length || (results.length > 0 && results.length !== all.length))
      throw new GeminiRefusal(UNEQUAL);
    for (const [at, { name, id, response }] of results.entries()) {
      fieldsOf(response, `${path}.response`, ['output', 'error']);
      if (name !== due[at]?.name || id !== due[at]?.id)
        throw new GeminiRefusal(`${path}: function_response ${String(name)} does not match its call.`);
    }
    due = [];
  }
  if (due.length > 0) throw new GeminiRefusal(UNEQUAL);
}

function checkInlineData(given: unknown, path: string): void {
  const { mimeType, data } = fieldsOf(given, `${path}.inline_data`, ['mimeType', 'data']);
  if (!['image/png', 'image/jpeg', 'image/webp'].includes(String(mimeType)))
    throw new GeminiRefusal(`Unsupported MIME type: ${String(mimeType)}`);
  if (imageProblem(mimeType, data) !== null)
    throw new GeminiRefusal('Unable to process input image. Please retry or report.');
}

const UNEQUAL =
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
