/** The pages of the web that the model may read. Its modules are loaded with the first call. */

import type { PageReader } from '../ports/network.ts';
import type { EgressRecord } from './open/egress-record.ts';
import type { RunInput } from './run-input.ts';

type Asking = Pick<RunInput, 'env' | 'version'>;

/** Reads pages of these hosts; null if there are no hosts. */
export function pagesOf(input: Asking, record: EgressRecord, hosts: readonly string[]): PageReader | null {
  return hosts.length === 0
    ? null
    : { read: async (url, signal) => (await openPages(input, record, hosts)).read(url, signal) };
}

async function openPages(
  { env, version }: Asking,
  record: EgressRecord,
  hosts: readonly string[],
): Promise<PageReader> {
  const { openPageReader } = await import('../adapters/network/web/page-reader.ts');
  const { htmlReader } = await import('../adapters/documents/reader.ts');
  const { upstreamByEnvironment } = await import('../adapters/network/machine-proxy.ts');
  const upstream = upstreamByEnvironment(env);
  return openPageReader({
    ...{ hosts, upstream, agent: `patchsmith/${version}`, markdownOf: htmlReader() },
    onUsed: (use) => record.used(use, 'web_fetch'),
  });
}
