/** The rules of a conversation: shapes of blocks, order of roles, and every tool call answered once, at once, first. */

import { imageProblem } from '../../files/images.ts';
import type { Block } from '../script.ts';
import type { Memory } from './check-request.ts';
import type { ModelRules } from './models.ts';
import { blocksOf } from './prefix.ts';
import { invalid } from './refusal.ts';

interface CheckedMessage {
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly Block[];
}

export function checkMessages(raw: unknown, rules: ModelRules, memory: Memory): void {
  if (!Array.isArray(raw)) throw invalid('messages: Input should be a valid list');
  if (raw.length === 0) throw invalid('messages: at least one message is required');
  const messages = raw.map((message: unknown, index) => checkShape(message, `messages.${index}`, memory));
  messages.forEach(({ role }, index) => {
    const isSummary = isCompaction(messages[0]);
    if (index > 0 && messages[index]?.blocks.some(({ type }) => type === 'compaction'))
      throw invalid(`messages.${index}: The compaction block is not the first block of the conversation.`);
    if (index === 0 && role !== 'user' && !isSummary)
      throw invalid('messages: first message must use the "user" role');
    if (index > 0 && messages[index - 1]?.role === role && !(index === 1 && isSummary))
      throw invalid(
        `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`,
      );
  });
  checkCallIds(messages);
  checkImages(messages);
  messages.forEach((message, index) => {
    checkResults(messages[index - 1], message, index);
    if (message.role === 'assistant' && index < messages.length - 1)
      checkAnswered(message, messages[index + 1], index);
  });
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return;
  const mayEnd = rules.prefill || memory.paused.has(JSON.stringify(last.blocks.at(-1)));
  if (!mayEnd)
    throw invalid(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
}

/** The API's own summary stands first, alone in a message of the model. */
function isCompaction(message: CheckedMessage | undefined): boolean {
  return (
    message?.role === 'assistant' && message.blocks.length === 1 && message.blocks[0]?.type === 'compaction'
  );
}

const FIELDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  user: {
    text: ['text', 'citations'],
    tool_result: ['tool_use_id', 'content', 'is_error'],
    image: ['source'],
    document: ['source', 'title', 'context', 'citations'],
  },
  assistant: {
    text: ['text', 'citations'],
    thinking: ['thinking', 'signature'],
    redacted_thinking: ['data'],
    tool_use: ['id', 'name', 'input', 'caller'],
  },
};

function checkShape(message: unknown, path: string, memory: Memory): CheckedMessage {
  if (!isRecord(message)) throw invalid(`${path}: Input should be a valid dictionary`);
  const { role, content, ...rest } = message;
  for (const field of Object.keys(rest)) throw invalid(`${path}.${field}: Extra inputs are not permitted`);
  if (role !== 'user' && role !== 'assistant')
    throw invalid(`${path}.role: Input should be 'user' or 'assistant'`);
  if (typeof content !== 'string' && !Array.isArray(content))
    throw invalid(`${path}.content: Input should be a valid list`);
  const blocks = blocksOf(content as string | Block[]);
  if (blocks.length === 0) throw invalid(`${path}: all messages must have non-empty content`);
  blocks.forEach((block, index) => {
    checkBlock(role, block, `${path}.content.${index}`, memory);
  });
  return { role, blocks };
}

function checkBlock(role: 'user' | 'assistant', block: unknown, path: string, memory: Memory): void {
  if (!isRecord(block) || typeof block.type !== 'string') throw invalid(`${path}.type: Field required`);
  const fields = FIELDS[role]?.[block.type];
  const { cache_control: _, ...content } = block;
  if (role === 'assistant' && memory.sent.has(JSON.stringify(content))) {
    if (block.type === 'text' && block.text === '')
      throw invalid('messages: text content blocks must be non-empty');
    return;
  }
  if (!fields)
    throw invalid(
      `${path}: Input tag '${block.type}' found using 'type' does not match any of the expected tags`,
    );
  for (const field of Object.keys(content)) {
    if (field !== 'type' && !fields.includes(field))
      throw invalid(`${path}.${block.type}.${field}: Extra inputs are not permitted`);
  }
  if (block.type === 'text') {
    if (typeof block.text !== 'string') throw invalid(`${path}.text.text: Input should be a valid string`);
    if (block.text === '') throw invalid('messages: text content blocks must be non-empty');
  }
  if (block.type === 'tool_result') checkResult(block, path, memory);
  if (block.type === 'image') checkImage(block, path);
  if (block.type === 'tool_use') checkCall(block, path);
  if (block.type === 'thinking' && (typeof block.thinking !== 'string' || !block.signature))
    throw invalid(`${path}.thinking.signature: Field required`);
  if (block.type === 'redacted_thinking' && typeof block.data !== 'string')
    throw invalid(`${path}.redacted_thinking.data: Field required`);
}

function checkResult(block: Record<string, unknown>, path: string, memory: Memory): void {
  if (typeof block.tool_use_id !== 'string') throw invalid(`${path}.tool_result.tool_use_id: Field required`);
  if (block.is_error !== undefined && typeof block.is_error !== 'boolean')
    throw invalid(`${path}.tool_result.is_error: Input should be a valid boolean`);
  if (block.content === undefined || block.content === '')
    throw invalid(`${path}.tool_result.content: content must be non-empty`);
  if (typeof block.content === 'string') return;
  if (!Array.isArray(block.content))
    throw invalid(`${path}.tool_result.content: Input should be a valid list`);
  block.content.forEach((inner: unknown, index) => {
    checkBlock('user', inner, `${path}.tool_result.content.${index}`, memory);
  });
}

function checkImage({ source }: Record<string, unknown>, path: string): void {
  if (!isRecord(source) || source.type !== 'base64')
    throw invalid(`${path}.image.source: Input should be a valid dictionary`);
  for (const field of Object.keys(source))
    if (!['type', 'media_type', 'data'].includes(field))
      throw invalid(`${path}.image.source.base64.${field}: Extra inputs are not permitted`);
  const problem = imageProblem(source.media_type, source.data);
  if (problem !== null) throw invalid(`${path}.image.source.base64: ${problem}`);
}

/** The API's rules for how many images a request may have, and how large they are then. */
const MAX_IMAGES = 100;
const MANY_IMAGES = 20;

function checkImages(messages: readonly CheckedMessage[]): void {
  const images = messages.flatMap(({ blocks }) => blocks.flatMap(imagesOf));
  if (images.length > MAX_IMAGES) throw invalid(`messages: too many images and documents: ${images.length}`);
  if (images.length <= MANY_IMAGES) return;
  for (const { media_type, data } of images) {
    const problem = imageProblem(media_type, data, true);
    if (problem !== null) throw invalid(`messages: ${problem} for many-image requests`);
  }
}

function imagesOf({ type, content, source }: Block): Record<string, unknown>[] {
  if (type === 'image' && isRecord(source)) return [source];
  return Array.isArray(content) ? content.flatMap(imagesOf) : [];
}

function checkCall(block: Record<string, unknown>, path: string): void {
  if (!/^[a-zA-Z0-9_-]+$/.test(String(block.id ?? '')))
    throw invalid(`${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  if (!/^[a-zA-Z0-9_-]{1,200}$/.test(String(block.name ?? '')))
    throw invalid(`${path}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'`);
  if (!isRecord(block.input)) throw invalid(`${path}.tool_use.input: Input should be a valid dictionary`);
}

function checkCallIds(messages: readonly CheckedMessage[]): void {
  const seen = new Set<unknown>();
  for (const { blocks } of messages) {
    for (const block of blocks) {
      if (block.type !== 'tool_use') continue;
      if (seen.has(block.id)) throw invalid('messages: `tool_use` ids must be unique');
      seen.add(block.id);
    }
  }
}

/** Every result belongs to a call of the message before, and comes once. */
function checkResults(before: CheckedMessage | undefined, message: CheckedMessage, index: number): void {
  const calls = new Set(before?.role === 'assistant' ? idsOf(before, 'tool_use', 'id') : []);
  const seen = new Set<unknown>();
  message.blocks.forEach((block, position) => {
    if (block.type !== 'tool_result') return;
    const id = String(block.tool_use_id);
    if (!calls.has(id)) {
      throw invalid(
        `messages.${index}.content.${position}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
          'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
      );
    }
    if (seen.has(id)) {
      throw invalid(
        `messages.${index}.content.${position}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    }
    seen.add(id);
  });
}

/** Every call is answered in the next message, in its first blocks. */
function checkAnswered(message: CheckedMessage, next: CheckedMessage | undefined, index: number): void {
  const calls = idsOf(message, 'tool_use', 'id');
  const first = next?.blocks.slice(0, calls.length) ?? [];
  const answered = new Set(
    first.filter((block) => block.type === 'tool_result').map((block) => block.tool_use_id),
  );
  const missing = calls.filter((id) => !answered.has(id));
  if (missing.length > 0) {
    throw invalid(
      `messages.${index + 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. ` +
        'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    );
  }
}

function idsOf(message: CheckedMessage, type: string, field: string): string[] {
  return message.blocks.filter((block) => block.type === type).map((block) => String(block[field]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
