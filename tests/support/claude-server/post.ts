/** Plain requests to the local Claude API, past any client, so that tests can send what no client would. */

import { onTestFinished } from 'vitest';
import type { Block, Script } from './script.ts';
import { type ClaudeServer, type ClaudeServerOptions, startClaudeServer } from './server.ts';

/** The parts of an answer, or of an error, that tests look at. */
interface Reply {
  status: number;
  body: { content?: Block[]; usage?: Record<string, number>; error?: { type: string; message: string } };
}

/** A text block. */
export const say = (text: string): Block => ({ type: 'text', text });
/** A user message. */
export const user = (...content: Block[]) => ({ role: 'user', content });
/** An assistant message. */
export const assistant = (...content: Block[]) => ({ role: 'assistant', content });
/** A tool call with this id. */
export const call = (id: string): Block => ({ type: 'tool_use', id, name: 'read_file', input: {} });
/** The result of the call with this id. */
export const result = (id: string, more: object = {}): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'ok',
  ...more,
});
/** Makes a block a cache breakpoint. */
export const mark = { cache_control: { type: 'ephemeral' } };
/** The smallest request that is accepted. */
export const plain = { model: 'claude-sonnet-5-5', max_tokens: 100, messages: [user(say('hi'))] };
/** The smallest tool definition that is accepted. */
export const tool = (more: object = {}) => ({ name: 'read_file', input_schema: { type: 'object' }, ...more });

/** Answers `ok` to everything without a script; closed when the test ends. */
export async function serving(
  turns: Script = () => ({ text: 'ok' }),
  more: Partial<ClaudeServerOptions> = {},
): Promise<ClaudeServer> {
  const server = await startClaudeServer({ turns, ...more });
  onTestFinished(() => server.close());
  return server;
}

/** A body that is text is sent as it is. */
export async function post(
  server: ClaudeServer,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(`${server.url}/v1/messages`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer k',
      'anthropic-version': '2026-10-21',
      'content-type': 'application/json',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Reply['body'] };
}
