/** Brave's search API: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started */

import * as z from 'zod';
import { innermostMessage } from '../../../domain/errors/innermost-message.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';
import { oneLine } from '../../../domain/text/terminal.ts';
import { timeoutSignal } from '../../../files/time-limit.ts';
import type { WebSearch } from '../../../ports/network.ts';
import { firstBytes } from './first-bytes.ts';
import type { SearchEntry, SearchOptions } from './search-entry.ts';

const ADDRESS = 'https://api.search.brave.com/res/v1/web/search';
const MAX_SEARCH_MS = 30_000;
/** The API refuses longer ones. */
const MAX_QUERY_CHARS = 400;
const MAX_TEXT_CHARS = 500;
/** Maximum size of an answer; typical ones have 100 KB. */
const MAX_BYTES = 2 * 1024 * 1024;

const SearchAnswer = z.object({
  web: z
    .object({
      results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().default('') })),
    })
    .optional(),
});

/** The entry of the registry. */
export const brave: SearchEntry = {
  name: 'Brave',
  keyVariable: 'BRAVE_API_KEY',
  open: (options) => ({
    name: 'Brave',
    search: (query, { count, signal }) =>
      search(options, {
        query,
        count,
        signal: AbortSignal.any([signal, timeoutSignal(options.limitMs ?? MAX_SEARCH_MS)]),
      }),
  }),
};

async function search(
  { key, ask, address = ADDRESS }: SearchOptions,
  { query, count, signal }: { query: string; count: number; signal: AbortSignal },
): Promise<WebSearch> {
  if (query.length > MAX_QUERY_CHARS)
    return failedSearch('invalid_input', `The query is longer than ${MAX_QUERY_CHARS} characters.`);
  const url = `${address}?${new URLSearchParams({ q: query, count: String(count), text_decorations: 'false' })}`;
  try {
    const fetch = await ask();
    const response = await fetch(url, {
      signal,
      // The key is for this host alone.
      redirect: 'manual',
      headers: { accept: 'application/json', 'x-subscription-token': key },
    });
    const { bytes } = await firstBytes(response.body, MAX_BYTES);
    if (!response.ok)
      return failedSearch('not_found', `Brave answered ${response.status}: ${hint(response.status)}.`);
    const parsed = SearchAnswer.safeParse(jsonOrUndefined(Buffer.from(bytes).toString('utf8')));
    if (!parsed.success)
      return failedSearch('not_found', 'Brave answered with something other than a list of pages.');
    const results = parsed.data.web?.results ?? [];
    return {
      status: 'ok',
      found: results.slice(0, count).map(({ title, url: found, description }) => ({
        title: plain(title),
        url: oneLine(found, 2_000),
        text: plain(description),
      })),
    };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (signal.aborted) return failedSearch('timeout', 'Brave did not answer in time.');
    return failedSearch('not_found', `Brave cannot be reached: ${oneLine(innermostMessage(error), 300)}`);
  }
}

/** Removes the marks that the API puts around words of the query. */
function plain(text: string): string {
  return oneLine(text.replace(/<\/?strong>/g, ''), MAX_TEXT_CHARS).trim();
}

function hint(status: number): string {
  if (status === 401 || status === 403) return 'the key in BRAVE_API_KEY is not accepted';
  if (status === 422) return 'the query or the key in BRAVE_API_KEY is not accepted';
  if (status === 429) return 'too many searches, or the quota of the key is used up';
  return 'try again later, or go on without a search';
}

function failedSearch(
  reason: Extract<WebSearch, { status: 'failed' }>['reason'],
  message: string,
): Extract<WebSearch, { status: 'failed' }> {
  return { status: 'failed', reason, message };
}
