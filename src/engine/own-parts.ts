/** Tools and providers that a program brings along: whatever they do, the run ends as it should. */

import * as z from 'zod';
import { type Conversation, jsonSchemaOf, LlmTurn } from '../domain/conversation/conversation.ts';
import { FailureReason, laneOf } from '../domain/conversation/tool.ts';
import { ProviderFailureKind } from '../domain/run/limits.ts';
import { oneLine } from '../domain/text/terminal.ts';
import { raceAbort } from '../host/deadline.ts';
import type { LlmProvider, Tool, ToolResult, TurnResult } from '../ports.ts';
import { definitionsOf } from '../tools/registry.ts';
import { failedCall } from '../tools/result.ts';

const Output = z.looseObject({ head: z.string(), omitted: z.int().nonnegative(), tail: z.string() });
const Result = z.discriminatedUnion('status', [
  z.looseObject({ status: z.literal('ok'), output: Output }),
  z.looseObject({ status: z.literal('failed'), reason: FailureReason, output: Output }),
  z.looseObject({
    status: z.literal('finished'),
    verdict: z.enum(['done', 'blocked']),
    summary: z.string(),
  }),
]);

/** The same tool. A stopped run does not wait for it, and whatever it throws or returns fails only its call. */
export function ownTool(tool: Tool): Tool {
  return {
    ...tool,
    schema: guardedSchema(tool),
    inputSchema: tool.inputSchema ?? jsonSchemaOf(tool.schema),
    async execute(input, context) {
      const result: unknown = await raceAbort(
        context.signal,
        (async () => tool.execute(input, context))().catch((error: unknown) =>
          failedCall('crashed', `The tool failed unexpectedly: ${messageOf(error)}`),
        ),
      );
      if (result === null && context.signal.aborted)
        return failedCall('interrupted', 'The run was stopped during this call. How much it did is unknown.');
      return Result.safeParse(result).success
        ? (result as ToolResult)
        : failedCall('crashed', 'The tool returned something that is no result.');
    },
  };
}

/** Why a run cannot have these tools; null if it can. */
export function whyNotTools(tools: readonly Tool[]): string | null {
  const names = tools.map(({ name }) => name);
  for (const [at, tool] of tools.entries()) {
    const { name } = tool;
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      return `The tool ${JSON.stringify(name)} needs a name of 1 to 64 letters, digits, _ and -.`;
    if (laneOf(name) !== null || names.indexOf(name) !== at)
      return `There is a tool ${name} already: give yours another name.`;
    try {
      definitionsOf([tool]);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return `The tool ${name} cannot be described to a model: ${error.message}`;
    }
  }
  return null;
}

/**
 * Why these tools cannot go with MCP servers of these names; null if they can. The tools of a server are only known once it is
 * connected, which is too late to choose another name.
 */
export function whyTakenByServer(tools: readonly Tool[], servers: readonly string[]): string | null {
  for (const { name } of tools) {
    const server = servers.find((one) => name.startsWith(`${one}__`));
    if (server !== undefined)
      return `The tool ${name} has a name that the MCP server ${server} may have a tool by: give yours another name.`;
  }
  return null;
}

/** The schema of a tool. Exceptions that it throws, or that naming the path of a write throws, become issues. */
function guardedSchema(tool: Tool): z.ZodType {
  return z.unknown().transform((input, context) => {
    try {
      const parsed = tool.schema.safeParse(input);
      if (parsed.success) {
        tool.target?.(parsed.data);
        return parsed.data;
      }
      for (const { path, message } of parsed.error.issues)
        context.addIssue({ code: 'custom', path: [...path], message });
    } catch (error) {
      const message = `the tool failed unexpectedly to read it: ${messageOf(error)}`;
      context.addIssue({ code: 'custom', message });
    }
    return z.NEVER;
  });
}

/** The same provider. Stopping the run does not wait for it, and an invalid answer ends the run as a provider failure. */
export function ownProvider(provider: LlmProvider): LlmProvider {
  return {
    ...provider,
    async complete(request) {
      const result: unknown = await raceAbort(
        request.signal,
        (async () => provider.complete(request))().catch((error: unknown) =>
          failedTurn(`The provider failed unexpectedly: ${messageOf(error)}`),
        ),
      );
      if (result === null && request.signal.aborted) return { status: 'interrupted' };
      const why = whyNoAnswer(result, request.conversation);
      return why === null ? (result as TurnResult) : failedTurn(`The provider returned no answer: ${why}`);
    },
  };
}

const TurnEnd = z.discriminatedUnion('status', [
  z.looseObject({ status: z.literal('interrupted') }),
  z.looseObject({ status: z.literal('failed'), kind: ProviderFailureKind, message: z.string() }),
  z.looseObject({ status: z.literal('ok'), turn: LlmTurn }),
]);

/** Null for one that can be recorded and answered. */
function whyNoAnswer(result: unknown, { messages }: Conversation): string | null {
  const { data: end, error } = TurnEnd.safeParse(result);
  if (end === undefined) {
    const [issue] = error.issues;
    return oneLine(`${issue?.path.join('.') || 'result'}: ${issue?.message}`, 300);
  }
  if (end.status !== 'ok') return null;
  const ids = new Set(
    messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'tool_result' ? [block.callId] : [])),
    ),
  );
  for (const { id } of end.turn.calls) {
    if (ids.has(id)) return oneLine(`two calls have the id ${JSON.stringify(id)}`, 300);
    ids.add(id);
  }
  return null;
}

function failedTurn(message: string): TurnResult {
  return { status: 'failed', kind: 'stream', message };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
