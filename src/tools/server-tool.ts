/** A tool of an MCP server. Tools and their names are determined once the servers are connected. */

import * as z from 'zod';
import type { ServerTool } from '../domain/mcp/chosen-tools.ts';
import type { Tool, ToolResult } from '../ports.ts';

/** Sends one call to the server of the tool. */
export type AskServer = (
  tool: ServerTool,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<ToolResult>;

/**
 * The tool. It accepts any input, which the server validates, and may change files, so its calls are treated like commands.
 * A replay, which never calls it, needs no texts.
 */
export function serverTool(
  tool: ServerTool,
  ask: AskServer,
  { description, inputSchema }: Required<Pick<Tool, 'description' | 'inputSchema'>> = UNSHOWN,
): Tool {
  return {
    name: tool.name,
    ...{ description, inputSchema },
    schema: z.record(z.string(), z.unknown()),
    lane: 'command',
    isOutside: true,
    execute: (input, { signal }) => ask(tool, Input.safeParse(input).data ?? {}, signal),
  };
}

const Input = z.record(z.string(), z.unknown());

const UNSHOWN = { description: '', inputSchema: { type: 'object' } };
