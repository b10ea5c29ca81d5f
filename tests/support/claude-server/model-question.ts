import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendHttpError } from './send.ts';

/** `GET /v1/models/{model_id}`, which uses no tokens and counts as no request for an answer. */
export function answerModel(
  { url = '', headers }: IncomingMessage,
  response: ServerResponse,
  apiKey: string | undefined,
) {
  const id = decodeURIComponent(/^\/v1\/models\/([^/?]+)$/.exec(url)?.[1] ?? '');
  const refuse = (status: number, type: string, message: string) =>
    sendHttpError(response, { kind: 'http', status, type, message });
  if (headers['anthropic-version'] === undefined)
    return refuse(400, 'invalid_request_error', 'anthropic-version: header is required');
  if (headers['x-api-key'] === undefined || (apiKey !== undefined && headers['x-api-key'] !== apiKey))
    return refuse(401, 'authentication_error', 'invalid x-api-key');
  if (!id.startsWith('claude-')) return refuse(404, 'not_found_error', `model: ${id}`);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' }));
}
