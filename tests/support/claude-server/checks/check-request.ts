/** Everything about a request that the API checks before it looks at the messages' order. Throws refusals. */

import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Block } from '../script.ts';
import { breakpointsOf } from './cache.ts';
import { checkMessages } from './check-messages.ts';
import { type ModelRules, rulesFor } from './models.ts';
import { type Bound, blocksOf, type Position, positionsOf, type RequestBody } from './prefix.ts';
import { invalid, Refusal } from './refusal.ts';
import { checkThinking } from './thinking.ts';

/** What the server remembers of its own answers, by their JSON. */
export interface Memory {
  /** Blocks that it has sent: the only way for an unknown type to be legal. */
  readonly sent: ReadonlySet<string>;
  /** Last blocks of paused answers: a conversation may end with one. */
  readonly paused: ReadonlySet<string>;
  /** What its compaction blocks stand for, by their signatures. */
  readonly compacted: ReadonlyMap<string, Bound>;
}

export interface CheckedRequest {
  readonly body: RequestBody;
  readonly rules: ModelRules;
  readonly positions: readonly Position[];
}

const FIELDS = new Set([
  ...[
    'model',
    'messages',
    'max_tokens',
    'system',
    'tools',
    'tool_choice',
    'thinking',
    'output_config',
    'stream',
  ],
  ...[
    'stop_sequences',
    'metadata',
    'cache_control',
    'service_tier',
    'temperature',
    'top_p',
    'top_k',
    'container',
  ],
  ...['inference_geo', 'diagnostics', 'speed', 'compaction'],
]);
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];
const COMPACT_BETA = 'compact-2026-09-04';
const BINDING_BETA = 'thinking-binding-controls-2026-08-01';

export function checkRequest(raw: unknown, betas: readonly string[], memory: Memory): CheckedRequest {
  if (!isRecord(raw)) throw invalid('Input should be a valid dictionary');
  for (const field of Object.keys(raw)) {
    if (!FIELDS.has(field)) throw invalid(`${field}: Extra inputs are not permitted`);
  }
  for (const field of ['model', 'messages', 'max_tokens']) {
    if (raw[field] === undefined) throw invalid(`${field}: Field required`);
  }
  if (typeof raw.model !== 'string') throw invalid('model: Input should be a valid string');
  const rules = rulesFor(raw.model);
  if (!rules) throw new Refusal(404, 'not_found_error', `model: ${raw.model}`);
  checkMaxTokens(raw.model, raw.max_tokens, rules);
  checkParameters(raw, rules, betas);
  checkSystem(raw.system);
  checkTools(raw.tools);
  checkCompaction(raw, rules, betas);
  checkMessages(raw.messages, rules, memory);
  const body = raw as RequestBody;
  const positions = positionsOf(body, memory.compacted);
  breakpointsOf(positions, body.cache_control);
  if (rules.bound) checkThinking(positions);
  const tokens = positions.reduce((sum, position) => sum + position.tokens, 0);
  if (tokens > rules.contextTokens) {
    throw invalid(`prompt is too long: ${tokens} tokens > ${rules.contextTokens} maximum`);
  }
  return { body, rules, positions };
}

/** On demand: with the beta header alone, for models that have it, and never at the end of an unfinished turn. */
function checkCompaction(raw: Record<string, unknown>, rules: ModelRules, betas: readonly string[]): void {
  const hasBeta = betas.includes(COMPACT_BETA);
  const hasBlock = JSON.stringify(raw.messages ?? null).includes('"type":"compaction"');
  if (hasBlock && !hasBeta)
    throw invalid(
      "messages.0.content.0: Input tag 'compaction' found using 'type' does not match any of the expected tags",
    );
  if (raw.compaction === undefined) return;
  if (!hasBeta) throw invalid('compaction: Extra inputs are not permitted');
  if (!rules.compacts) throw invalid('compaction: This model does not support compaction.');
  if (!isRecord(raw.compaction) || raw.compaction.type !== 'summarize')
    throw invalid("compaction: Input tag does not match any of the expected tags: 'summarize'");
  onlyFields('compaction', raw.compaction, ['type', 'instructions']);
  const last = Array.isArray(raw.messages) ? raw.messages.at(-1) : null;
  if (!isRecord(last) || last.role !== 'user')
    throw invalid('compaction: The request ends on an assistant turn that is not finished.');
}

function checkMaxTokens(model: string, value: unknown, rules: ModelRules): void {
  if (!Number.isInteger(value)) throw invalid('max_tokens: Input should be a valid integer');
  if (Number(value) < 1) throw invalid('max_tokens: Input should be greater than or equal to 1');
  if (Number(value) > rules.maxOutput) {
    throw invalid(
      `max_tokens: ${Number(value)} > ${rules.maxOutput}, which is the maximum allowed number of output tokens for ${model}`,
    );
  }
}

function checkParameters(raw: Record<string, unknown>, rules: ModelRules, betas: readonly string[]): void {
  for (const name of ['temperature', 'top_p', 'top_k']) {
    if (raw[name] !== undefined && !rules.sampling)
      throw invalid(`${name}: sampling parameters are not supported on this model`);
  }
  if (raw.stream !== undefined && typeof raw.stream !== 'boolean')
    throw invalid('stream: Input should be a valid boolean');
  if (raw.thinking !== undefined) checkThinkingParameter(raw.thinking, raw.max_tokens, rules, betas);
  if (raw.output_config !== undefined) {
    if (!isRecord(raw.output_config)) throw invalid('output_config: Input should be a valid dictionary');
    onlyFields('output_config', raw.output_config, ['effort', 'format']);
    const { effort } = raw.output_config;
    if (effort !== undefined && effort !== null) {
      if (!rules.effort)
        throw invalid('output_config.effort: This model does not support the effort parameter.');
      if (!EFFORTS.includes(String(effort)))
        throw invalid(`output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'`);
    }
  }
  if (raw.tool_choice !== undefined) {
    if (!isRecord(raw.tool_choice)) throw invalid('tool_choice: Input should be a valid dictionary');
    const type = String(raw.tool_choice.type);
    if (!['auto', 'any', 'tool', 'none'].includes(type))
      throw invalid(
        `tool_choice: Input tag '${type}' found using 'type' does not match any of the expected tags`,
      );
    if ((type === 'any' || type === 'tool') && !rules.forcedTools)
      throw invalid(`tool_choice: type "${type}" is not supported on this model`);
  }
}

function checkThinkingParameter(
  thinking: unknown,
  maxTokens: unknown,
  rules: ModelRules,
  betas: readonly string[],
): void {
  if (!isRecord(thinking)) throw invalid('thinking: Input should be a valid dictionary');
  const type = String(thinking.type);
  if (!['adaptive', 'enabled', 'disabled', 'between_tools'].includes(type))
    throw invalid(`thinking: Input tag '${type}' found using 'type' does not match any of the expected tags`);
  if (!rules.thinking.includes(type))
    throw invalid(`thinking: type "${type}" is not supported on this model`);
  const allowed = {
    adaptive: ['display'],
    enabled: ['budget_tokens', 'display'],
    disabled: [],
    between_tools: [],
  };
  const binding = betas.includes(BINDING_BETA) ? ['block_binding'] : [];
  onlyFields('thinking', thinking, ['type', ...allowed[type as keyof typeof allowed], ...binding]);
  if (type === 'enabled') {
    const budget = Number(thinking.budget_tokens);
    if (!(budget >= 1024))
      throw invalid('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
    if (!(budget < Number(maxTokens)))
      throw invalid('`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
  const { display } = thinking;
  if (display !== undefined && display !== null && display !== 'summarized' && display !== 'omitted')
    throw invalid(`thinking.${type}.display: Input should be 'summarized' or 'omitted'`);
}

function checkSystem(system: unknown): void {
  if (system === undefined) return;
  if (typeof system !== 'string' && !Array.isArray(system))
    throw invalid('system: Input should be a valid list');
  blocksOf(system as string | Block[]).forEach((block, index) => {
    if (!isRecord(block) || block.type !== 'text')
      throw invalid(`system.${index}: Input should be a text block`);
    onlyFields(`system.${index}`, block, ['type', 'text', 'cache_control', 'citations']);
    if (typeof block.text !== 'string' || block.text === '')
      throw invalid('system: text content blocks must be non-empty');
  });
}

// Made once in a process: it compiles the description of schemas, which takes longer than all other checks.
let schemaChecker: Ajv2020 | undefined;

function checkerOfSchemas(): Ajv2020 {
  schemaChecker ??= new Ajv2020({ strict: false });
  return schemaChecker;
}

function checkTools(tools: unknown): void {
  if (tools === undefined) return;
  if (!Array.isArray(tools)) throw invalid('tools: Input should be a valid list');
  const names = new Set<string>();
  tools.forEach((tool: unknown, index) => {
    const path = `tools.${index}.custom`;
    if (!isRecord(tool)) throw invalid(`${path}: Input should be a valid dictionary`);
    onlyFields(path, tool, ['name', 'description', 'input_schema', 'type', 'cache_control', 'strict']);
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(tool.name ?? '')))
      throw invalid(`${path}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    if (tool.description !== undefined && typeof tool.description !== 'string')
      throw invalid(`${path}.description: Input should be a valid string`);
    if (names.has(String(tool.name))) throw invalid('tools: Tool names must be unique.');
    names.add(String(tool.name));
    if (!isRecord(tool.input_schema)) throw invalid(`${path}.input_schema: Field required`);
    if (tool.input_schema.type !== 'object')
      throw invalid(`${path}.input_schema.type: Input should be 'object'`);
    if (checkerOfSchemas().validateSchema(tool.input_schema) !== true)
      throw invalid(`${path}.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12`);
  });
}

function onlyFields(path: string, value: Record<string, unknown>, allowed: readonly string[]): void {
  for (const field of Object.keys(value)) {
    if (!allowed.includes(field)) throw invalid(`${path}.${field}: Extra inputs are not permitted`);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
