/** A provider in front of a scripted server, with waits that are recorded instead of waited. */

import { onTestFinished } from 'vitest';
import { createAnthropicProvider } from '../../../src/adapters/providers/anthropic.ts';
import type { EndpointOptions } from '../../../src/adapters/providers/asking/endpoint.ts';
import type { NamelessProvider } from '../../../src/adapters/providers/asking/provider.ts';
import {
  type Conversation,
  type LlmTurn,
  type Message,
  openConversation,
} from '../../../src/domain/conversation/conversation.ts';
import type { TurnProgress, TurnRequest, TurnResult } from '../../../src/ports.ts';
import type { Script } from '../../support/claude-server/script.ts';
import { type ClaudeServer, startClaudeServer } from '../../support/claude-server/server.ts';

/** Never sent anywhere but to this machine. */
export const TEST_KEY = 'sk-ant-test-0123456789abcdef';

export interface Asking {
  readonly server: ClaudeServer;
  readonly provider: NamelessProvider;
  readonly progress: TurnProgress[];
  /** Milliseconds of every wait between two attempts; the clock stands still but for them. */
  readonly waits: number[];
  ask(
    conversation?: Conversation,
    signal?: AbortSignal,
    answerTokens?: TurnRequest['answerTokens'],
  ): Promise<TurnResult>;
}

/** The server is closed when the test ends. */
export async function asking(turns: Script, options: Partial<EndpointOptions> = {}): Promise<Asking> {
  const server = await startClaudeServer({ turns, apiKey: TEST_KEY });
  onTestFinished(() => server.close());
  const waits: number[] = [];
  let now = 0;
  const progress: TurnProgress[] = [];
  const provider = createAnthropicProvider({
    apiKey: TEST_KEY,
    baseUrl: server.url,
    model: 'claude-sonnet-5-5',
    effort: null,
    clock: () => now,
    random: () => 0,
    sleep: async (ms) => {
      waits.push(ms);
      now += ms;
    },
    ...options,
  });
  return {
    server,
    provider,
    progress,
    waits,
    ask: (
      conversation = plainConversation(),
      signal = new AbortController().signal,
      answerTokens = () => 8192,
    ) =>
      provider.complete({
        conversation,
        signal,
        answerTokens,
        onProgress: (step) => void (step.type === 'received' || progress.push(step)),
      }),
  };
}

export function plainConversation(...later: Message[]): Conversation {
  const readFile = {
    name: 'read_file',
    description: 'Reads a file.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  };
  const opening = openConversation('You change code.', [readFile], 'Mend the parser.');
  return { ...opening, messages: [...opening.messages, ...later] };
}

/** The turn of an answer that has to be one. */
export function turnOf(result: TurnResult): LlmTurn {
  if (result.status !== 'ok') throw new Error(`No turn: ${JSON.stringify(result)}`);
  return result.turn;
}

/** The failure of an answer that has to be one. */
export function failureOf(result: TurnResult): Extract<TurnResult, { status: 'failed' }> {
  if (result.status !== 'failed') throw new Error(`No failure: ${JSON.stringify(result)}`);
  return result;
}

export function answered(turn: LlmTurn): Message {
  return { role: 'assistant', content: turn.content };
}

/** Answers all calls of a turn. */
export function resultsOf(turn: LlmTurn, text = 'ok'): Message {
  return {
    role: 'user',
    content: turn.calls.map((call) => ({ type: 'tool_result', callId: call.id, text, isError: false })),
  };
}
