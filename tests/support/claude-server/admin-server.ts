/**
 * A local Admin API with the two reports of usage and cost, as strict as the documentation of the real one: key, version,
 * parameters, limits of pages, tokens of pages. It reports days that the test gives.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Rows by day, such as `2026-11-20`; a day without rows is a bucket without results. */
export type ReportedDays = Readonly<Record<string, readonly object[]>>;

export interface AdminServer {
  readonly url: string;
  /** Path and query of all requests. */
  readonly requests: readonly string[];
  /** Answers every further request in place of the API. */
  answer(with_: { status: number; body?: unknown; headers?: Record<string, string> }): void;
  close(): Promise<void>;
}

interface Given {
  readonly key: string;
  readonly usage: ReportedDays;
  readonly cost: ReportedDays;
}

const DAY_MS = 86_400_000;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  '/v1/organizations/usage_report/messages': [
    'api_key_id',
    'workspace_id',
    'model',
    'service_tier',
    'context_window',
    'inference_geo',
  ],
  '/v1/organizations/cost_report': ['workspace_id', 'description'],
};
const PARAMETERS = ['starting_at', 'ending_at', 'bucket_width', 'limit', 'page', 'group_by[]'];

export async function startAdminServer(given: Given): Promise<AdminServer> {
  const requests: string[] = [];
  let instead: Parameters<AdminServer['answer']>[0] | null = null;
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (instead !== null) return send(response, instead.status, instead.body ?? {}, instead.headers);
    const refused = (status: number, type: string, message: string) =>
      send(response, status, { type: 'error', error: { type, message } });
    const mistake = mistakeIn(request, given.key);
    if (mistake !== null) return refused(...mistake);
    const url = new URL(request.url ?? '', 'http://here');
    send(response, 200, pageOf(url, url.pathname.endsWith('cost_report') ? given.cost : given.usage));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (with_) => {
      instead = with_;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

type Mistake = [status: number, type: string, message: string];

function mistakeIn({ method, url = '', headers }: IncomingMessage, key: string): Mistake | null {
  const { pathname, searchParams } = new URL(url, 'http://here');
  const invalid = (message: string): Mistake => [400, 'invalid_request_error', message];
  const groups = GROUPS[pathname];
  if (method !== 'GET' || groups === undefined) return [404, 'not_found_error', 'Not found'];
  if (headers['x-api-key'] !== key) return [401, 'authentication_error', 'invalid x-api-key'];
  if (headers['anthropic-version'] !== '2023-06-01') return invalid('anthropic-version: header is required');
  const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) return invalid(`${unknown}: Extra inputs are not permitted`);
  const [from = '', to = ''] = ['starting_at', 'ending_at'].map((name) => searchParams.get(name) ?? '');
  if (!RFC_3339.test(from) || !RFC_3339.test(to)) return invalid('starting_at: not an RFC 3339 timestamp');
  if (Date.parse(from) >= Date.parse(to)) return invalid('ending_at must be after starting_at');
  if (searchParams.get('bucket_width') !== '1d') return invalid('bucket_width: Input should be 1d');
  const limit = Number(searchParams.get('limit') ?? 7);
  if (!Number.isInteger(limit) || limit < 1 || limit > 31) return invalid('limit: must be from 1 to 31');
  const group = searchParams.getAll('group_by[]').find((name) => !groups.includes(name));
  if (group !== undefined) return invalid(`group_by: ${group} is no option`);
  const page = searchParams.get('page');
  return page !== null && !/^page_\d+$/.test(page) ? invalid('page: invalid token') : null;
}

function pageOf({ searchParams }: URL, days: ReportedDays) {
  const snapped = (name: string) => Math.floor(Date.parse(searchParams.get(name) ?? '') / DAY_MS) * DAY_MS;
  const first = Number(searchParams.get('page')?.slice('page_'.length) ?? snapped('starting_at'));
  const to = snapped('ending_at');
  const next = Math.min(to, first + Number(searchParams.get('limit') ?? 7) * DAY_MS);
  const at = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`;
  const data = [];
  for (let day = first; day < next; day += DAY_MS) {
    const results = days[at(day).slice(0, 10)] ?? [];
    data.push({ starting_at: at(day), ending_at: at(day + DAY_MS), results });
  }
  return { data, has_more: next < to, next_page: next < to ? `page_${next}` : null };
}

function send(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}
