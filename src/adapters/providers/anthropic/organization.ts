/** What an organisation has spent on the Claude API, by its "Usage and Cost" reports (platform.claude.com/docs). */

import * as z from 'zod';
import { addUsage, noUsage, totalTokens, Usage } from '../../../domain/conversation/conversation.ts';
import { innermostMessage } from '../../../domain/errors/innermost-message.ts';
import { CutShort } from '../../../domain/errors/thrown.ts';
import { type Failed, failed } from '../../../domain/failed.ts';
import type { SpentEntry } from '../../../domain/runs.ts';
import { redactorFor } from '../../../domain/secrets/redact.ts';
import { parseJson } from '../../../domain/text/json.ts';
import { collect } from '../../../files/regular-file.ts';
import { timeoutSignal } from '../../../files/time-limit.ts';
import { connectionFailure, type RefusalTable, refusalFailure, refusalSaid } from '../asking/failures.ts';
import { withBoundedRefusals } from '../asking/stream.ts';
import { CLAUDE_REFUSALS } from './access.ts';

/** The requested period: whole days in UTC. */
export interface OrganizationRequest {
  readonly apiKey: string;
  /** Null for the vendor's own. */
  readonly baseUrl: string | null;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** The start of the first day, and of the day after the last, in Unix milliseconds. */
  readonly from: number;
  readonly to: number;
}

/** An entry for each model and day, or why there are none. */
export type OrganizationSpending = { status: 'ok'; spending: readonly SpentEntry[] } | Failed;

const Count = z
  .int()
  .nonnegative()
  .nullish()
  .transform((count) => count ?? 0);
const UsageRow = z.object({
  model: z.string().nullish(),
  service_tier: z.string().nullish(),
  uncached_input_tokens: Count,
  cache_read_input_tokens: Count,
  output_tokens: Count,
  cache_creation: z.object({ ephemeral_5m_input_tokens: Count, ephemeral_1h_input_tokens: Count }).nullish(),
});
/** Amounts are decimal numbers of cents; credits are negative. */
const CostRow = z.object({
  amount: z.string().regex(/^-?\d{1,15}(?:\.\d{1,30})?$/, 'not a decimal number of cents'),
  currency: z.literal('USD', 'not an amount in USD'),
  model: z.string().nullish(),
  description: z.string().nullish(),
});

/** Requests page by page, and stops at the first refusal. Rejects with CutShort when the signal aborts. */
export async function readOrganization(request: OrganizationRequest): Promise<OrganizationSpending> {
  const lines = new Map<string, ReturnType<typeof emptyLine>>();
  const lineOf = (day: string, model: string) => {
    const line = lines.get(`${day} ${model}`) ?? emptyLine(day, model);
    lines.set(`${day} ${model}`, line);
    return line;
  };
  try {
    const groups = ['model', 'service_tier'];
    for await (const { day, row } of rowsOf(request, 'usage_report/messages', groups, UsageRow)) {
      const line = lineOf(day, row.model ?? 'unnamed model');
      const { ephemeral_5m_input_tokens: cacheWrite = 0, ephemeral_1h_input_tokens: cacheWrite1h = 0 } =
        row.cache_creation ?? {};
      const [input, cacheRead] = [row.uncached_input_tokens, row.cache_read_input_tokens];
      const tokens = { input, output: row.output_tokens, cacheRead, cacheWrite, cacheWrite1h };
      line.tokens = addUsage(line.tokens, tokens);
      // Commitments are billed differently, and are not in the cost report.
      line.isUnpriced ||= row.service_tier?.startsWith('priority') === true && totalTokens(tokens) > 0;
    }
    for await (const { day, row } of rowsOf(request, 'cost_report', ['description'], CostRow)) {
      const line = lineOf(day, row.model ?? row.description ?? 'other costs');
      line.cents = (line.cents ?? 0) + Number(row.amount);
    }
  } catch (error) {
    if (error instanceof Unreadable) return failed(redactorFor([request.apiKey])(error.message));
    throw error;
  }
  const spending = [...lines.values()].flatMap(({ day, model, tokens, cents, isUnpriced }) => {
    const part = { day, model, plan: null, estimated: false };
    // Tokens without a reported cost have an unknown cost.
    const costUsd = cents === null ? (totalTokens(tokens) === 0 ? 0 : UNKNOWN) : cents / 100;
    const unpriced =
      isUnpriced && costUsd !== UNKNOWN ? [{ ...part, tokens: noUsage, costUsd: UNKNOWN }] : [];
    return [{ ...part, tokens, costUsd }, ...unpriced];
  });
  return spending.every(({ tokens }) => Usage.safeParse(tokens).success)
    ? { status: 'ok', spending }
    : failed('The Admin API reports more tokens than can be counted.');
}

const UNKNOWN = 'unknown' as const;

/** One model on one day. `cents` is null until a cost is reported. */
function emptyLine(day: string, model: string) {
  return { day, model, tokens: noUsage, cents: null as number | null, isUnpriced: false };
}

class Unreadable extends Error {}

async function* rowsOf<Row>(
  request: OrganizationRequest,
  report: string,
  groupBy: readonly string[],
  row: z.ZodType<Row>,
): AsyncGenerator<{ day: string; row: Row }> {
  const days = z.array(z.object({ starting_at: z.iso.datetime({ offset: true }), results: z.array(row) }));
  const Page = z.object({ data: days, has_more: z.boolean(), next_page: z.string().min(1).nullish() });
  const unusable = `The Admin API's answer to ${report} cannot be used`;
  const url = new URL(`${request.baseUrl ?? 'https://api.anthropic.com'}/v1/organizations/${report}`);
  const [from, to] = [request.from, request.to].map((at) => `${new Date(at).toISOString().slice(0, 19)}Z`);
  url.search = `starting_at=${from}&ending_at=${to}&bucket_width=1d&limit=31`;
  for (const name of groupBy) url.searchParams.append('group_by[]', name);
  // A little more than ten years of days, at the 31 a page that the documentation allows.
  for (let pages = 0; pages < 150; pages += 1) {
    const text = await readPage(request, url);
    if (text === null) throw new Unreadable(`${unusable}: it is larger than 16 MiB.`);
    const parsed = parseJson(text, { values: 2_000_000 });
    const { data: page, error } = Page.safeParse(parsed.status === 'ok' ? parsed.value : null);
    const [issue] = error?.issues ?? [];
    if (page === undefined)
      throw new Unreadable(`${unusable}: ${issue?.path.join('.') || 'no report'}: ${issue?.message}.`);
    for (const { starting_at: at, results } of page.data)
      for (const result of results) yield { day: new Date(at).toISOString().slice(0, 10), row: result };
    if (!page.has_more) return;
    if (!page.next_page || page.next_page === url.searchParams.get('page')) break;
    url.searchParams.set('page', page.next_page);
  }
  throw new Unreadable(`${unusable}: it says there are more pages but does not name the next one.`);
}

/** Null if it is too large. */
async function readPage(request: OrganizationRequest, url: URL): Promise<string | null> {
  const limit = timeoutSignal(60_000);
  try {
    const response = await withBoundedRefusals(request.fetch)(url, {
      headers: { 'x-api-key': request.apiKey, 'anthropic-version': '2023-06-01' },
      // A redirect would send the key to a host that was not chosen.
      redirect: 'manual',
      signal: AbortSignal.any([request.signal, limit]),
    });
    const { status, headers, body } = response;
    if (status === 200) {
      const read = await collect(body ?? new Blob([]).stream(), 16 * 1024 * 1024);
      return read.status === 'ok' ? read.bytes.toString('utf8') : null;
    }
    const refused = { status, said: refusalSaid(await response.text()), retryAfterMs: null };
    const failure = refusalFailure(refused, adminRefusals(headers.get('retry-after')));
    throw new Unreadable(`The Admin API answers ${failure.message}`);
  } catch (error) {
    // In this case, the error thrown is the reason of the signal.
    if (request.signal.aborted) throw new CutShort();
    if (error instanceof Unreadable || !(error instanceof Error)) throw error;
    const why = limit.aborted ? 'no answer within 60 s' : innermostMessage(error);
    throw new Unreadable(connectionFailure(why).message);
  }
}

function adminRefusals(retryAfter: string | null): RefusalTable {
  const wait = /^\d{1,6}$/.test(retryAfter ?? '') ? `${retryAfter} s` : 'a minute';
  const advice = {
    authentication:
      'Check ANTHROPIC_ADMIN_API_KEY: it has to be an Admin API key (sk-ant-admin…), which an administrator of the organisation creates in the Claude Console. Other keys do not work here, and individual accounts have none.',
    permission:
      'This key may not read the usage and cost reports; an administrator of the organisation can create one that may.',
    not_found: 'Check the base URL: gateways often have no Admin API.',
    rate_limit: `There were too many requests; try again in ${wait}.`,
  };
  return { ...CLAUDE_REFUSALS, advice: { ...CLAUDE_REFUSALS.advice, ...advice } };
}
