/** What a server says when it refuses, in any format. */

import { depthOf, jsonOrUndefined } from '../../../domain/text/json.ts';
import { MAX_DEPTH } from './tool-input.ts';

/** What the server said when it refused. Any field may be missing: gateways have their own formats. */
export interface RefusalSaid {
  readonly type: string | null;
  readonly code: string | null;
  readonly message: string;
  /** The wait that it requests in the body, not in headers; null if none. */
  readonly waitMs: number | null;
}

/** A refusal without any text. */
export const NOTHING_SAID: RefusalSaid = { type: null, code: null, message: '', waitMs: null };

/** Reads the body of a refusal: in the format of a vendor or a gateway, or plain text. */
export function refusalSaid(body: string): RefusalSaid {
  const value = depthOf(body) > MAX_DEPTH ? null : jsonOrUndefined(body);
  return saidIn(value) ?? { ...NOTHING_SAID, message: body };
}

/** Null if the value has nothing known. */
export function saidIn(value: unknown): RefusalSaid | null {
  if (typeof value === 'string') return { ...NOTHING_SAID, message: value };
  if (Array.isArray(value)) return saidIn(value[0]);
  if (typeof value !== 'object' || value === null) return null;
  if ('error' in value && value.error !== null) return saidIn(value.error);
  const field = (name: string): string | null => {
    const found: unknown = Reflect.get(value, name);
    return typeof found === 'string' ? found : null;
  };
  const message = field('message') ?? field('detail');
  // Google's name for its type is `status`.
  const [type, code] = [field('type') ?? field('status'), field('code')];
  if (message === null && type === null && code === null) return null;
  return { type, code, message: message ?? '', waitMs: waitIn(value) };
}

/** Google requests a wait in a detail: `{"retryDelay": "34.07s"}`. */
function waitIn(error: object): number | null {
  if (!('details' in error) || !Array.isArray(error.details)) return null;
  for (const detail of error.details as unknown[]) {
    if (typeof detail !== 'object' || detail === null || !('retryDelay' in detail)) continue;
    const [, seconds] = /^(\d{1,9}(?:\.\d+)?)s$/.exec(String(detail.retryDelay)) ?? [];
    if (seconds !== undefined) return Math.round(Number(seconds) * 1_000);
  }
  return null;
}
