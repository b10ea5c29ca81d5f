/** What a provider can report about an organisation. */

import type { Failed } from '../../domain/failed.ts';
import type { SpentEntry } from '../../domain/runs/spending.ts';

/** How to ask a provider what an organisation's account has spent. */
export interface OrganizationEntry {
  /** The variable that contains the administrator's key, in the environment or a `.env`. */
  readonly keyVariable: string;
  readSpending(request: OrganizationRequest): Promise<OrganizationSpending>;
}

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
