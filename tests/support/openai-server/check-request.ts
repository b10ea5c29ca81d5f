/** What OpenAI refuses in a request: fields it does not know, calls without results, results without calls, reasoning alone. */

import { imageProblem } from '../files/images.ts';

/** A refusal in the words of the API. */
export class OpenAiRefusal extends Error {
  readonly status: number;
  readonly code: string | null;
  constructor(message: string, status = 400, code: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

type Fields = Record<string, unknown>;

function fieldsOf(value: unknown, path: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new OpenAiRefusal(`Invalid type for '${path}': expected an object.`);
  return value as Fields;
}

function onlyFields(value: Fields, path: string, allowed: readonly string[]): void {
  for (const field of Object.keys(value))
    if (!allowed.includes(field)) throw new OpenAiRefusal(`Unknown parameter: '${path}${field}'.`);
}

function text(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '')
    throw new OpenAiRefusal(`Invalid type for '${path}': expected a string, but got ${typeof value}.`);
  return value;
}

function list(value: unknown, path: string): unknown[] {
  if (!Array.isArray(value)) throw new OpenAiRefusal(`Invalid type for '${path}': expected an array.`);
  return value;
}

function checkFunction(tool: Fields, path: string, more: readonly string[]): void {
  onlyFields(tool, path, ['name', 'description', 'parameters', 'strict', ...more]);
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(text(tool.name, `${path}name`)))
    throw new OpenAiRefusal(`Invalid '${path}name': string does not match pattern.`);
  if (fieldsOf(tool.parameters, `${path}parameters`).type !== 'object')
    throw new OpenAiRefusal(`Invalid schema for function '${String(tool.name)}'.`);
}

/** Rules of `POST /v1/chat/completions`. A reasoning model takes no `max_tokens`. `own`: fields of this server's own messages. */
export function checkChat(body: Fields, isReasoning: boolean, own: readonly string[]): void {
  onlyFields(body, '', [
    'model',
    'messages',
    'tools',
    'max_tokens',
    'max_completion_tokens',
    'reasoning_effort',
    'stream',
    'stream_options',
  ]);
  text(body.model, 'model');
  if (isReasoning && 'max_tokens' in body)
    throw new OpenAiRefusal(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      400,
      'unsupported_parameter',
    );
  for (const [index, given] of list(body.tools ?? [], 'tools').entries()) {
    const tool = fieldsOf(given, `tools[${index}]`);
    onlyFields(tool, `tools[${index}].`, ['type', 'function']);
    checkFunction(fieldsOf(tool.function, 'function'), `tools[${index}].function.`, []);
  }
  let due: string[] = [];
  const messages = list(body.messages, 'messages');
  if (messages.length === 0) throw new OpenAiRefusal("Invalid 'messages': empty array.");
  for (const [index, given] of messages.entries()) {
    const path = `messages[${index}].`;
    const message = fieldsOf(given, path);
    if (message.role === 'tool') {
      onlyFields(message, path, ['role', 'tool_call_id', 'content']);
      text(message.content, `${path}content`);
      const id = text(message.tool_call_id, `${path}tool_call_id`);
      if (!due.includes(id))
        throw new OpenAiRefusal(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        );
      due = due.filter((one) => one !== id);
      continue;
    }
    if (due.length > 0)
      throw new OpenAiRefusal(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. Missing: ${due.join(', ')}`,
      );
    if (message.role !== 'assistant') {
      onlyFields(message, path, ['role', 'content']);
      if (message.role !== 'user' && message.role !== 'system')
        throw new OpenAiRefusal(`Invalid value: '${String(message.role)}'.`);
      if (message.role === 'user' && Array.isArray(message.content)) checkParts(message.content, CHAT_PARTS);
      else text(message.content, `${path}content`);
      continue;
    }
    onlyFields(message, path, ['role', 'content', 'refusal', 'tool_calls', ...own]);
    const calls = list(message.tool_calls ?? [], `${path}tool_calls`);
    if (calls.length === 0) text(message.content, `${path}content`);
    due = calls.map((one, at) => {
      const call = fieldsOf(one, `${path}tool_calls[${at}]`);
      onlyFields(call, `${path}tool_calls[${at}].`, ['id', 'type', 'function', ...own]);
      const called = fieldsOf(call.function, `${path}function`);
      onlyFields(called, `${path}function.`, ['name', 'arguments']);
      JSON.parse(text(called.arguments, 'arguments'));
      return text(call.id, `${path}tool_calls[${at}].id`);
    });
  }
  if (due.length > 0) throw new OpenAiRefusal(`No tool output found for ${due.join(', ')}.`);
}

/** Rules of `POST /v1/responses` where nothing is stored. `sent`: the items that the server sent, as JSON. */
export function checkResponses(body: Fields, isReasoning: boolean, sent: ReadonlySet<string>): void {
  onlyFields(body, '', [
    'model',
    'instructions',
    'input',
    'tools',
    'max_output_tokens',
    'reasoning',
    'include',
    'store',
    'stream',
  ]);
  text(body.model, 'model');
  if (body.store !== false) throw new OpenAiRefusal('This test stores nothing.');
  if (Number(body.max_output_tokens) < 16)
    throw new OpenAiRefusal("Invalid 'max_output_tokens': integer below minimum value.");
  if (!isReasoning && body.include !== undefined)
    throw new OpenAiRefusal('Encrypted content is not supported with this model.');
  if (body.reasoning !== undefined)
    onlyFields(fieldsOf(body.reasoning, 'reasoning'), 'reasoning.', ['effort', 'summary']);
  for (const [index, given] of list(body.tools ?? [], 'tools').entries()) {
    const tool = fieldsOf(given, `tools[${index}]`);
    checkFunction(tool, `tools[${index}].`, ['type']);
    if (tool.strict !== false) throw new OpenAiRefusal('Invalid schema: additionalProperties is required.');
  }
  const input = list(body.input, 'input').map((item, index) => fieldsOf(item, `input[${index}]`));
  const open = new Set<string>();
  const seen = new Set<string>();
  for (const [index, item] of input.entries()) {
    const path = `input[${index}].`;
    if (item.role === 'user') {
      onlyFields(item, path, ['role', 'content']);
      if (Array.isArray(item.content)) checkParts(item.content, RESPONSES_PARTS);
      else text(item.content, `${path}content`);
    } else if (item.type === 'function_call_output') {
      onlyFields(item, path, ['type', 'call_id', 'output']);
      if (Array.isArray(item.output)) checkParts(item.output, RESPONSES_PARTS);
      else text(item.output, `${path}output`);
      if (!open.delete(text(item.call_id, `${path}call_id`)))
        throw new OpenAiRefusal(
          `No tool call found for function call output with call_id ${String(item.call_id)}.`,
        );
    } else {
      if (!sent.has(JSON.stringify(item)))
        throw new OpenAiRefusal(`${path}: an item of the model that differs from the one that was sent.`);
      if (seen.has(String(item.id)))
        throw new OpenAiRefusal(`Duplicate item found with id ${String(item.id)}.`);
      seen.add(String(item.id));
      if (item.type === 'function_call') open.add(String(item.call_id));
      if (item.type === 'reasoning') checkReasoning(item, input[index + 1]);
    }
  }
  if (open.size > 0)
    throw new OpenAiRefusal(`No tool output found for function call ${[...open].join(', ')}.`);
}

/** How a part of a message is called, and where an image is in it. */
interface PartShape {
  readonly text: string;
  readonly image: string;
  readonly fields: readonly string[];
  url(part: Fields): unknown;
}

const CHAT_PARTS: PartShape = {
  text: 'text',
  image: 'image_url',
  fields: ['type', 'image_url'],
  url: (part) => fieldsOf(part.image_url, 'image_url').url,
};

const RESPONSES_PARTS: PartShape = {
  text: 'input_text',
  image: 'input_image',
  fields: ['type', 'detail', 'image_url'],
  url: (part) => part.image_url,
};

function checkParts(parts: readonly unknown[], shape: PartShape): void {
  if (parts.length === 0) throw new OpenAiRefusal("Invalid 'content': empty array.");
  for (const given of parts) {
    const part = fieldsOf(given, 'content');
    if (part.type === shape.text) {
      onlyFields(part, 'content.', ['type', 'text']);
      text(part.text, 'content.text');
      continue;
    }
    if (part.type !== shape.image) throw new OpenAiRefusal(`Invalid value: '${String(part.type)}'.`);
    onlyFields(part, 'content.', shape.fields);
    const [, type, data] = /^data:([^;]+);base64,(.*)$/s.exec(String(shape.url(part))) ?? [];
    if (imageProblem(type, data) !== null)
      throw new OpenAiRefusal('You uploaded an unsupported image. Please make sure your image is valid.');
  }
}

function checkReasoning(item: Fields, next: Fields | undefined): void {
  if (typeof item.encrypted_content !== 'string')
    throw new OpenAiRefusal(
      `Item with id '${String(item.id)}' not found. Items are not persisted when \`store\` is set to false.`,
      404,
    );
  if (next === undefined || !['reasoning', 'message', 'function_call'].includes(String(next.type)))
    throw new OpenAiRefusal(
      `Item '${String(item.id)}' of type 'reasoning' was provided without its required following item.`,
    );
}
