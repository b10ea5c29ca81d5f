/**
 * What the runner and the model say to each other: an append-only conversation.
 *
 * The system prompt, the tools and every message, once sent, never change within a segment: newer models bind their thinking
 * blocks to the exact prefix, and prompt caching depends on it.
 */

import * as z from 'zod';
import type { Image } from '../images/image.ts';
import { formatNumber } from '../text/words.ts';

/**
 * A content block exactly as the provider sent it. Unknown types are legal. It is validated but not rebuilt, so that the
 * order of its fields is preserved and it is sent back byte for byte.
 */
export interface ContentBlock {
  type: string;
  [field: string]: unknown;
}
export const ContentBlock = z.custom<ContentBlock>(
  (value) => typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string',
  'not a content block',
);

/** Tokens of one answer, in the billing classes of the provider. */
export const Usage = z.strictObject({
  /** Input tokens billed at the full price: neither read from the cache nor written to it. */
  input: z.int().nonnegative(),
  output: z.int().nonnegative(),
  cacheRead: z.int().nonnegative(),
  /** Written to the cache with a lifetime of five minutes. */
  cacheWrite: z.int().nonnegative(),
  /** Written to the cache with a lifetime of one hour. */
  cacheWrite1h: z.int().nonnegative(),
});
export type Usage = z.infer<typeof Usage>;

/** No tokens at all. */
export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };

const CLASSES = Object.keys(noUsage) as (keyof Usage)[];

function usageWith(tokensOf: (of: keyof Usage) => number): Usage {
  return Object.fromEntries(CLASSES.map((of) => [of, tokensOf(of)])) as Usage;
}

/** The sum of two usages. */
export function addUsage(a: Usage, b: Usage): Usage {
  return usageWith((of) => a[of] + b[of]);
}

/** The usage added between `before` and `after`. */
export function usageBetween(before: Usage, after: Usage): Usage {
  return usageWith((of) => after[of] - before[of]);
}

/** All tokens of a usage, cached or not: what `--max-total-tokens` counts. */
export function totalTokens(usage: Usage): number {
  return usage.input + usage.output + usage.cacheRead + usage.cacheWrite + usage.cacheWrite1h;
}

/** `12,345 tokens, 81% of the prompts from the cache`; before the first prompt only the number. */
export function describeTokens(usage: Usage): string {
  const prompt = totalTokens(usage) - usage.output;
  const all = `${formatNumber(totalTokens(usage))} tokens`;
  if (prompt === 0) return all;
  return `${all}, ${Math.round((usage.cacheRead / prompt) * 100)}% of the prompts from the cache`;
}

/** A tool call of the model. `input` is what the model wrote; it is untrusted until a tool's schema has parsed it. */
export const ToolCall = z.strictObject({
  id: z.string(),
  name: z.string(),
  input: z.unknown(),
  /** Set if the input was not a single JSON object; says why. Such a call is answered with this error. */
  malformed: z.string().optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

/**
 * Why a turn ended. `end_turn` the model is done · `tool_use` it waits for tool results · `max_tokens` its answer
 * was cut · `pause_turn` it wants to go on · `refusal` it declines · `context_window` the conversation is full ·
 * `compaction` it is a summary that was asked for.
 */
export const TurnStop = z.enum([
  'end_turn',
  'tool_use',
  'max_tokens',
  'pause_turn',
  'refusal',
  'context_window',
  'compaction',
]);
export type TurnStop = z.infer<typeof TurnStop>;

/** One complete answer of the model. */
export const LlmTurn = z.strictObject({
  /** The whole content array as received, in order, including thinking blocks with empty text. */
  content: z.array(ContentBlock),
  stop: TurnStop,
  /** Details of a refusal, or empty. */
  stopDetail: z.string(),
  /** The client tool calls in `content`, in order. */
  calls: z.array(ToolCall),
  /** The text blocks of `content`, joined. */
  text: z.string(),
  usage: Usage,
  /** The provider has not counted all of `usage`: the rest is estimated from the bytes. Absent if it has. */
  estimated: z.literal(true).exactOptional(),
  /** The model that answered, by its own name. */
  model: z.string(),
  /** From the request to the end of the answer, failed attempts and waits included. */
  durationMs: z.number().nonnegative(),
});
export type LlmTurn = z.infer<typeof LlmTurn>;

/** A block in a message from the runner to the model. */
export type UserBlock =
  | { type: 'text'; text: string }
  | {
      type: 'tool_result';
      callId: string;
      text: string;
      isError: boolean;
      /** Left out for none. */
      images?: Image[];
    };

/** One message of the conversation, as it is sent. */
export type Message =
  | { role: 'user'; content: readonly UserBlock[] }
  | { role: 'assistant'; content: readonly ContentBlock[] };

/** A tool as the model sees it. `inputSchema` is JSON Schema. */
export const ToolDefinition = z.strictObject({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
});
export type ToolDefinition = z.infer<typeof ToolDefinition>;

/** What replaces dropped messages: one of the runner's texts, or a block of the API that comes first. */
export type ContextSummary =
  | { readonly by: 'runner'; readonly text: string }
  | { readonly by: 'api'; readonly block: ContentBlock };

/** Everything sent in one request, apart from the provider's own settings. */
export interface Conversation {
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  readonly messages: readonly Message[];
  /** How many times the conversation has begun a new segment. */
  readonly segment: number;
  /** The first message of the run, which every segment has word for word. */
  readonly task: readonly UserBlock[];
  /** Null as long as nothing was summarised. */
  readonly summary: ContextSummary | null;
}

/** A conversation that contains only the task. */
export function openConversation(
  system: string,
  tools: readonly ToolDefinition[],
  task: string,
): Conversation {
  const content: readonly UserBlock[] = [{ type: 'text', text: task }];
  return { system, tools, segment: 0, task: content, summary: null, messages: [{ role: 'user', content }] };
}

/** Breaks every closing tag of the same name, however it is spelled, so that data cannot pretend to end. */
export function asData(tag: string, text: string): string {
  return text.replace(new RegExp(`<(?=[\\s\\p{Cf}]*/[\\s\\p{Cf}]*${tag})`, 'giu'), '<\\');
}

/** A schema as the JSON Schema of a tool's input. */
export function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, {
    io: 'input',
    override({ jsonSchema }) {
      // Every number in JSON is within the bounds of a safe integer anyway.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return inputSchema;
}
