/** What a provider can be asked about an organisation. */

import type { Failed } from '../../domain/failed.ts';
import type { SpentEntry } from '../../domain/runs/spending.ts';

/** How an organisation's account at a provider is asked what was spent on it. */
export interface OrganizationEntry {
  /** The variable that contains the administrator's key, in the environment or a `.env`. */
  readonly keyVariable: string;
  readSpending(request: OrganizationRequest): Promise<OrganizationSpending>;
}

/** What is asked for: whole days in UTC. */
export interface OrganizationRequest {
  readonly apiKey: string;
  /** Null for the vendor's own. */
  readonly baseUrl: string | null;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** The first day, and the one after the last: its beginning, in Unix milliseconds. */
  readonly from: number;
  readonly to: number;
}

/** An entry for each model and day, or why there are none. */
export type OrganizationSpending = { status: 'ok'; spending: readonly SpentEntry[] } | Failed;
