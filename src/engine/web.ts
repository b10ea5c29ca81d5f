/** The model's access to the web. Its modules are loaded with the first call. */

import { SEARCHES, searchByEnvironment } from '../adapters/network/web/search.ts';
import { readApiKey } from '../config/dotenv.ts';
import type { RunStarted } from '../domain/run/events.ts';
import { type Warning, warningText } from '../domain/warnings/warning.ts';
import type { PageReader, SearchProvider } from '../ports/network.ts';
import type { EgressRecord } from './open/egress-record.ts';
import type { RunInput } from './run-input.ts';

type Asking = Pick<RunInput, 'env' | 'version'>;

/** Whether there is a key to search with. */
export function searchesWeb({ env }: Pick<Asking, 'env'>): boolean {
  return SEARCHES.some(({ keyVariable }) => Boolean(env[keyVariable]?.trim()));
}

/** The key to search with that the `.env` of the folder has and the environment has not, by its variable; and why one is not used. */
export async function searchKeyIn(
  env: RunInput['env'],
  cwd: string,
): Promise<{ readonly key: Readonly<Record<string, string>>; readonly notes: readonly Warning[] }> {
  if (searchesWeb({ env })) return { key: {}, notes: [] };
  const notes: Warning[] = [];
  for (const { keyVariable } of SEARCHES) {
    const read = await readApiKey(env, cwd, keyVariable);
    // Problems with the whole file are reported when the model's key is looked up.
    notes.push(...read.notes.filter((note) => warningText(note).includes(keyVariable)));
    if (read.key !== null) return { key: { [keyVariable]: read.key }, notes };
  }
  return { key: {}, notes };
}

/**
 * What the web tools of a run read and search with, according to the recorded settings; null for a tool that it does not have.
 */
export function webOf(
  input: Asking,
  record: EgressRecord,
  { webFetch, webSearch }: Pick<RunStarted['toolSettings'], 'webFetch' | 'webSearch'>,
): { readonly pages: PageReader | null; readonly search: SearchProvider | null } {
  return {
    pages:
      webFetch.length === 0
        ? null
        : { read: async (url, signal) => (await openPages(input, record, webFetch)).read(url, signal) },
    search: webSearch
      ? {
          name: 'the web',
          search: async (query, options) => (await openSearch(input, record)).search(query, options),
        }
      : null,
  };
}

async function openPages(
  { env, version }: Asking,
  record: EgressRecord,
  hosts: readonly string[],
): Promise<PageReader> {
  const { openPageReader } = await import('../adapters/network/web/page-reader.ts');
  const { htmlReader } = await import('../adapters/documents/reader.ts');
  const { upstreamByEnvironment } = await import('../adapters/network/upstream.ts');
  const upstream = upstreamByEnvironment(env);
  return openPageReader({
    ...{ hosts, upstream, agent: `patchsmith/${version}`, markdownOf: htmlReader() },
    onUsed: (use) => record.used(use, 'web_fetch'),
  });
}

/** A run that is resumed without the key keeps the tool, which then reports the missing key. */
async function openSearch({ env }: Asking, record: EgressRecord): Promise<Pick<SearchProvider, 'search'>> {
  const { fetchByEnvironment } = await import('../adapters/network/machine-proxy.ts');
  const missing = `There is no key to search with: ${SEARCHES.map(({ keyVariable }) => keyVariable).join(' or ')} is not set.`;
  return (
    searchByEnvironment(env, {
      ask: async () => record.recording('search', await fetchByEnvironment(env)),
    }) ?? {
      search: async () => ({ status: 'failed', reason: 'not_found', message: missing }),
    }
  );
}
