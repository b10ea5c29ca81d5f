/** A local Gemini API, as strict as the real one; it answers from a script, and breaks as the real one does. */

import type { ServerResponse } from 'node:http';
import type { Fault, Script, ScriptedTurn } from '../claude-server/script.ts';
import { type ScriptedServer, startScriptedServer } from '../http/scripted-server.ts';
import { sendFrames } from '../openai-server/server.ts';
import { checkGemini, GeminiRefusal } from './check-request.ts';

type Fields = Record<string, unknown>;

export async function startGeminiServer({
  turns,
  apiKey,
  model,
}: {
  turns: Script;
  apiKey: string;
  model: string;
}): Promise<ScriptedServer> {
  const sent = new Set<string>();
  return startScriptedServer({
    name: 'gemini-server',
    turns,
    refuse,
    check({ request, body }) {
      if (request.headers['x-goog-api-key'] !== apiKey)
        throw new GeminiRefusal('API key not valid. Please pass a valid API key.');
      if (request.url !== `/v1beta/models/${model}:streamGenerateContent?alt=sse`)
        throw new GeminiRefusal(
          `models/${request.url} is not found for API version v1beta`,
          404,
          'NOT_FOUND',
        );
      checkGemini(body, sent);
    },
    refusalOf(error) {
      if (!(error instanceof GeminiRefusal)) return null;
      const { message, status, type } = error;
      return { message, fault: { status, type } };
    },
    async answer(response, turn, { index }) {
      const { events, parts } = eventsOf(turn, index, model);
      if (turn.fault === undefined && turn.events === undefined) sent.add(JSON.stringify(parts));
      const frames = (turn.events ?? events).map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`);
      await sendFrames(response, frames, turn.fault);
    },
  });
}

const STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** Waits are asked for in a detail of the error, not in a header. */
function refuse(response: ServerResponse, fault: Extract<Fault, { kind: 'http' }>): void {
  const { status, message = 'scripted', retryAfter, rawBody } = fault;
  const details = retryAfter
    ? [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfter}s` }]
    : [];
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8', ...fault.headers });
  const error = { code: status, message, status: STATUS[status] ?? fault.type, details };
  response.end(rawBody ?? JSON.stringify({ error }));
}

/** The words of a script are those of the Claude API. */
const FINISH: Readonly<Record<string, string>> = { max_tokens: 'MAX_TOKENS', refusal: 'SAFETY' };

/** Chunks as they are streamed, and the parts that they come to. */
function eventsOf(turn: ScriptedTurn, index: number, model: string): { events: Fields[]; parts: Fields[] } {
  const { text = '', calls = [], stop } = turn;
  const thoughtSignature = Buffer.from(`signature ${index}`).toString('base64');
  const thought = typeof turn.thinking === 'string' ? [{ text: turn.thinking, thought: true }] : [];
  // Only the first call is signed; what has no call is signed at its end.
  const called = calls.map(({ name, input = {}, id }, at) => ({
    functionCall: { name, args: input, ...(id === undefined ? {} : { id }) },
    ...(at === 0 ? { thoughtSignature } : {}),
  }));
  const end = calls.length > 0 ? called : stop === 'max_tokens' ? [] : [{ text: '', thoughtSignature }];
  const pieces = (text.match(/[\s\S]{1,2}/gu) ?? []).map((piece) => ({ text: piece }));
  const usage = (output: number) => ({
    promptTokenCount: 40,
    cachedContentTokenCount: 6,
    candidatesTokenCount: output,
    thoughtsTokenCount: 3,
    totalTokenCount: 43 + output,
  });
  const counted = (output: number) => (turn.uncounted ? {} : { usageMetadata: usage(output) });
  const chunk = (parts: Fields[], more: Fields = {}): Fields => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    ...counted(1),
    modelVersion: model,
    responseId: `r${index}`,
  });
  const finishReason = stop === undefined ? 'STOP' : (FINISH[stop] ?? stop);
  const last = {
    ...chunk(end, { finishReason }),
    ...counted(turn.outputTokens ?? 5),
  };
  return {
    events: [...thought, ...pieces].map((part) => chunk([part])).concat([last]),
    parts: [...thought, ...(text === '' ? [] : [{ text }]), ...end],
  };
}
