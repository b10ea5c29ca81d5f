/** The reports of the Admin API: pages of days with rows, read to the end within bounds. */

import * as z from 'zod';
import { innermostMessage } from '../../../domain/errors/innermost-message.ts';
import { type Failed, failed } from '../../../domain/failed.ts';
import { CutShort } from '../../../domain/run/cut-short.ts';
import { redactorFor } from '../../../domain/secrets/redact.ts';
import { parseJson } from '../../../domain/text/bounded-json.ts';
import { withoutHtml } from '../../../domain/text/html-page.ts';
import { oneLine } from '../../../domain/text/terminal.ts';
import { timeoutSignal } from '../../../files/time-limit.ts';
import type { OrganizationRequest } from '../organization-spending.ts';

const ANTHROPIC_API = 'https://api.anthropic.com';

/** The version in the Admin API's documentation. */
const API_VERSION = '2023-06-01';

/** Maximum days per page, according to the documentation. */
const DAYS_A_PAGE = 31;
/** A little more than ten years of days. */
const MAX_PAGES = 150;
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
const MAX_ROWS = 500_000;
const PAGE_MS = 60_000;

/** Which report, and what its rows are. */
export interface Report<Row> {
  readonly path: string;
  readonly groupBy: readonly string[];
  readonly row: z.ZodType<Row>;
}

/** All rows, each with its day, or why they could not be read. */
export type ReportRead<Row> = { status: 'ok'; rows: (Row & { readonly day: string })[] } | Failed;

/** The message of a failure never holds the key. Rejects with CutShort when the signal aborts. */
export async function readReport<Row extends object>(
  request: OrganizationRequest,
  { path, groupBy, row }: Report<Row>,
): Promise<ReportRead<Row>> {
  const redact = redactorFor([request.apiKey]);
  const Page = z.object({
    data: z.array(z.object({ starting_at: z.iso.datetime({ offset: true }), results: z.array(row) })),
    has_more: z.boolean(),
    next_page: z.string().min(1).nullish(),
  });
  const rows: (Row & { day: string })[] = [];
  const seen = new Set<string>();
  let page: string | null = null;
  do {
    const text = await readPage(request, addressOf(request, { path, groupBy, page }));
    if (typeof text !== 'string') return failed(redact(text.message));
    const parsed = parseJson(text, { values: 2_000_000 });
    const answer = Page.safeParse(parsed.status === 'ok' ? parsed.value : null);
    if (!answer.success) return failed(redact(`${unusable(path)}: ${firstIssue(answer.error)}.`));
    const { data, has_more, next_page } = answer.data;
    for (const { starting_at, results } of data) {
      const day = new Date(starting_at).toISOString().slice(0, 10);
      for (const result of results) rows.push({ ...result, day });
    }
    page = has_more ? (next_page ?? null) : null;
    if (has_more && (page === null || seen.has(page)))
      return failed(`${unusable(path)}: it says there are more pages but does not name the next one.`);
    if (page !== null) seen.add(page);
    if (seen.size >= MAX_PAGES || rows.length > MAX_ROWS)
      return failed(`The report ${path} has too many pages or rows. Ask for less with --since.`);
  } while (page !== null);
  return { status: 'ok', rows };
}

interface ReportQuery {
  readonly path: string;
  readonly groupBy: readonly string[];
  readonly page: string | null;
}

function addressOf({ baseUrl, from, to }: OrganizationRequest, { path, groupBy, page }: ReportQuery): string {
  const query = new URLSearchParams({
    starting_at: moment(from),
    ending_at: moment(to),
    bucket_width: '1d',
    limit: String(DAYS_A_PAGE),
  });
  for (const name of groupBy) query.append('group_by[]', name);
  if (page !== null) query.set('page', page);
  return `${baseUrl ?? ANTHROPIC_API}${path}?${query}`;
}

function moment(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

async function readPage(
  { apiKey, fetch: ask, signal }: OrganizationRequest,
  address: string,
): Promise<string | Failed> {
  const limit = timeoutSignal(PAGE_MS);
  try {
    const response = await ask(address, {
      headers: { 'x-api-key': apiKey, 'anthropic-version': API_VERSION, accept: 'application/json' },
      // A redirect would send the key to a host that was not chosen.
      redirect: 'manual',
      signal: AbortSignal.any([signal, limit]),
    });
    const text = await beginningOf(response.body);
    if (text === null) return failed(`${unusable(address)}: it is larger than 16 MiB.`);
    return response.status === 200 ? text : refusal(response, text);
  } catch (error) {
    // In this case, the error thrown is the reason of the signal.
    if (signal.aborted) throw new CutShort();
    if (!(error instanceof Error)) throw error;
    const why = limit.aborted ? `no answer within ${PAGE_MS / 1_000} s` : innermostMessage(error);
    return failed(
      `No connection to the Admin API: ${oneLine(why, 500)}. Check the network, the proxy and the base URL.`,
    );
  }
}

/** Null if it is too large. */
async function beginningOf(body: ReadableStream<Uint8Array> | null): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the transfer.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_PAGE_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const ErrorBody = z.object({ error: z.object({ message: z.string() }) });

function refusal({ status, headers }: Response, text: string): Failed {
  const parsed = parseJson(text, { values: 10_000 });
  const said = ErrorBody.safeParse(parsed.status === 'ok' ? parsed.value : null);
  const message = oneLine(withoutHtml(said.success ? said.data.error.message : text), 500).trim();
  const quoted = message === '' ? '' : `: ${message.replace(/\.$/, '')}`;
  return failed(`The Admin API answers ${status}${quoted}. ${adviceFor(status, headers.get('retry-after'))}`);
}

function adviceFor(status: number, retryAfter: string | null): string {
  if (status >= 300 && status < 400)
    return 'Redirects are not followed; set the base URL to the final address.';
  switch (status) {
    case 401:
      return 'Check ANTHROPIC_ADMIN_API_KEY: it has to be an Admin API key (sk-ant-admin…), which an administrator of the organisation creates in the Claude Console. Other keys do not work here, and individual accounts have none.';
    case 403:
      return 'This key may not read the usage and cost reports; an administrator of the organisation can create one that may.';
    case 404:
      return 'Check the base URL: gateways often have no Admin API.';
    case 429: {
      const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? ` in ${retryAfter} s` : ' in a minute';
      return `There were too many requests; try again${seconds}.`;
    }
    default:
      return status >= 500 ? 'Try again later; see status.claude.com.' : 'It does not accept this request.';
  }
}

function unusable(path: string): string {
  return `The Admin API's answer to ${path.split('?', 1)[0]} cannot be used`;
}

function firstIssue({ issues: [issue] }: z.ZodError): string {
  return oneLine(
    issue === undefined ? 'no report' : `${issue.path.join('.') || 'no report'}: ${issue.message}`,
    300,
  );
}
