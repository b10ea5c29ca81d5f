/** What a web index has to provide to be searched. */

import type { SearchProvider } from '../../../ports/network.ts';

/** What a search is opened with. */
export interface SearchOptions {
  readonly key: string;
  /** The client for requests, which uses the machine's proxy. */
  readonly ask: () => Promise<typeof fetch>;
  /** Another address of the same API. Default: its own. */
  readonly address?: string;
  /** For one search. Default: 30 s. */
  readonly limitMs?: number;
}

/** One index: available if its key is. */
export interface SearchEntry {
  /** For people. */
  readonly name: string;
  /** The environment variable of its key. */
  readonly keyVariable: string;
  open(options: SearchOptions): SearchProvider;
}
