/** A tool of an MCP server. Tools and their names are determined once the servers are connected. */

import * as z from 'zod';
import { whole } from '../domain/conversation/excerpt.ts';
import type { FailureReason, Lane } from '../domain/conversation/tool.ts';
import type { FoundImage } from '../domain/images/image.ts';
import type { ServerTool } from '../domain/mcp/server-tool.ts';
import type { Tool } from '../ports.ts';
import { failedCall } from './result.ts';

/** The result of a call to a server; its text is for the model. */
export type ServerReply =
  | { readonly status: 'ok'; readonly text: string; readonly images?: readonly FoundImage[] }
  | { readonly status: 'failed'; readonly reason: FailureReason; readonly text: string };

/** Sends one call to the server of the tool. */
export type AskServer = (
  tool: ServerTool,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<ServerReply>;

/** How the model is shown the tool. */
export interface ServerToolText {
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** Accepts any input, which the server validates. It may change files, so its calls are treated like commands. */
const LANE: Lane = 'command';

/** The tool. A replay, which never calls it, needs no texts. */
export function serverTool(tool: ServerTool, ask: AskServer, text: ServerToolText = UNSHOWN): Tool {
  return {
    name: tool.name,
    ...text,
    schema: z.record(z.string(), z.unknown()),
    lane: LANE,
    isOutside: true,
    async execute(input, { signal }) {
      const { data = {} } = Input.safeParse(input);
      const reply = await ask(tool, data, signal);
      return reply.status === 'ok'
        ? { status: 'ok', output: whole(reply.text), images: reply.images ?? [] }
        : failedCall(reply.reason, reply.text);
    },
  };
}

const Input = z.record(z.string(), z.unknown());

const UNSHOWN: ServerToolText = { description: '', inputSchema: { type: 'object' } };
