/** Every web index that can be searched. A new one is a file here, a line below and a test. */

import type { Environment } from '../../../domain/environment.ts';
import type { SearchProvider } from '../../../ports/network.ts';
import { brave } from './brave.ts';
import type { SearchEntry, SearchOptions } from './search-entry.ts';

/** The first one with a key is used. */
export const SEARCHES: readonly SearchEntry[] = [brave];

/** The search for which the environment has a key; null if there is none. */
export function searchByEnvironment(
  env: Environment,
  options: Omit<SearchOptions, 'key'>,
): SearchProvider | null {
  for (const entry of SEARCHES) {
    const key = env[entry.keyVariable]?.trim();
    if (key) return entry.open({ ...options, key });
  }
  return null;
}
