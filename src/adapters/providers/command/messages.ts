/**
 * The messages between patchsmith and a program that replaces a model, one JSON object per line;
 * docs/provider-command.md.
 */

import * as z from 'zod';
import { ContentBlock, ToolDefinition, TurnStop, Usage } from '../../../domain/conversation/conversation.ts';
import { Image } from '../../../domain/images/image.ts';
import { ProviderFailureKind } from '../../../domain/run/limits.ts';
import { EFFORTS, type ModelSettings } from '../../../domain/run/model-settings.ts';
import type { TurnRequest } from '../../../ports.ts';

/** The version of the protocol; it changes when today's programs would no longer work. */
export const PROTOCOL_VERSION = 1;

const Text = z.strictObject({ type: z.literal('text'), text: z.string() });
const ToolResultBlock = z.strictObject({
  type: z.literal('tool_result'),
  callId: z.string().describe('The id of the tool_use block that it answers'),
  text: z.string(),
  isError: z.boolean(),
  images: z
    .array(Image)
    .optional()
    .describe('Images that belong to the text, which a program that knows no images passes over'),
});

/** The one line that the program reads. */
export const CommandRequest = z
  .strictObject({
    type: z.literal('request'),
    version: z.literal(PROTOCOL_VERSION),
    model: z.string().describe('What --model says; "default" without it'),
    maxTokens: z.int().positive().describe('Most tokens that the answer may have'),
    effort: z.enum(EFFORTS).nullable(),
    showThinking: z.boolean().describe('Text of the thoughts is wanted, to be shown'),
    purpose: z
      .enum(['summary', 'review'])
      .optional()
      .describe('What the answer is for; absent: the next turn of the work'),
    segment: z
      .int()
      .nonnegative()
      .optional()
      .describe('How many times the conversation has begun anew; within a segment it only grows'),
    system: z.string(),
    tools: z.array(ToolDefinition),
    messages: z.array(
      z.discriminatedUnion('role', [
        z.strictObject({
          role: z.literal('user'),
          content: z.array(z.discriminatedUnion('type', [Text, ToolResultBlock])),
        }),
        z.strictObject({
          role: z.literal('assistant'),
          content: z.array(ContentBlock).describe('As the program gave it'),
        }),
      ]),
    ),
  })
  .describe('The one line that the program reads');
export type CommandRequest = z.infer<typeof CommandRequest>;

/** Why a program has no answer. */
const FailureKind = ProviderFailureKind.exclude(['stream', 'recording']);

const { cacheRead, cacheWrite, cacheWrite1h } = Usage.shape;
/** Absent cache counts are 0. */
const Counts = Usage.extend({
  cacheRead: cacheRead.default(0),
  cacheWrite: cacheWrite.default(0),
  cacheWrite1h: cacheWrite1h.default(0),
});

/** A line that the program writes. */
export const CommandReply = z.discriminatedUnion('type', [
  z
    .strictObject({ type: z.literal('text'), text: z.string() })
    .describe('A piece of the answer, to be shown at once (--verbose); the answer has it, too'),
  z.strictObject({ type: z.literal('alive') }).describe('Ends a silence, as any line does'),
  z
    .strictObject({
      type: z.literal('answer'),
      content: z
        .array(ContentBlock)
        .describe(
          'Blocks in order: {"type": "text", "text"}, {"type": "tool_use", "id", "name", "input"}, and any others, which go back as they came',
        ),
      stop: TurnStop.exclude(['compaction'])
        .optional()
        .describe('Default: tool_use when there are calls, else end_turn'),
      stopDetail: z.string().optional().describe('Why the model refuses'),
      usage: Counts.optional().describe('Tokens; without it they are reckoned from the bytes'),
      model: z.string().optional().describe('The model that answered, by its own name'),
    })
    .describe('The whole answer; the program is ended after it'),
  z
    .strictObject({
      type: z.literal('failure'),
      kind: FailureKind.describe('rate_limit and outage are waited out, the others end the run'),
      message: z.string(),
      retryAfterSeconds: z.number().nonnegative().max(1e9).optional(),
    })
    .describe('Why there is no answer; the program is ended after it'),
]);
export type CommandReply = z.infer<typeof CommandReply>;

/**
 * The conversation as the program gets it. Within a segment, the same conversation gives the same bytes, and a longer
 * one begins with the bytes of the shorter.
 */
export function commandRequest(
  { model, effort, showThinking }: Pick<ModelSettings, 'effort' | 'showThinking'> & { model: string },
  { conversation, purpose }: Pick<TurnRequest, 'conversation' | 'purpose'>,
  maxTokens: number,
): CommandRequest {
  const { system, tools, messages, segment } = conversation;
  return {
    type: 'request',
    version: PROTOCOL_VERSION,
    model,
    maxTokens,
    effort,
    showThinking,
    // No program is asked for the API's own compaction.
    ...(purpose === undefined || purpose === 'compaction' ? {} : { purpose }),
    segment,
    system,
    tools: [...tools],
    messages: messages.map((message) =>
      message.role === 'user'
        ? { role: message.role, content: [...message.content] }
        : { role: message.role, content: [...message.content] },
    ),
  };
}
