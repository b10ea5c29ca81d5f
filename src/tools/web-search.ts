/** `web_search`: finds web pages for a query. A run has it if there is a key for it. */

import * as z from 'zod';
import description from '../../prompts/tools/web_search.md';
import type { SearchProvider } from '../ports/network.ts';
import type { Tool } from '../ports.ts';
import { failedCall, said } from './result.ts';

const DEFAULT_COUNT = 10;
const MAX_COUNT = 20;

const Input = z.strictObject({
  query: z.string().trim().min(1),
  count: z.int().min(1).max(MAX_COUNT).optional().describe(`Default: ${DEFAULT_COUNT}`),
});
type Input = z.infer<typeof Input>;

/** Searches the web. */
export function webSearchTool(provider: SearchProvider): Tool<Input> {
  return {
    name: 'web_search',
    description,
    schema: Input,
    lane: 'read',
    isOutside: true,
    aliases: { q: 'query' },
    async execute({ query, count = DEFAULT_COUNT }, { signal }) {
      const search = await provider.search(query, { count, signal });
      if (search.status === 'failed') return failedCall(search.reason, search.message);
      if (search.found.length === 0) return said('(nothing was found)');
      return said(
        search.found
          .map(({ title, url, text }, at) => `${at + 1}. ${title}\n   ${url}\n   ${text}`)
          .join('\n'),
      );
    },
  };
}
