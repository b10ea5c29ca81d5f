/** What all APIs share to send one request to a model and read its answer. */

import type { Redact } from '../../../domain/secrets/redact.ts';
import type { Clock, TurnRequest } from '../../../ports.ts';

/** Shared by the attempts of all providers. */
export interface AttemptParts {
  /** Longest silence before and during the answer; any byte ends a silence. */
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** For text from the other side, which may repeat a secret. */
  readonly redact: Redact;
  onText(text: string): void;
  /** Called with the number of bytes received so far. */
  onBytes(bytes: number): void;
}

/** Those of one request; `redact` also hides the key. */
export function attemptParts(
  { idleTimeoutMs = 120_000, clock = Date.now }: { idleTimeoutMs?: number; clock?: Clock },
  request: TurnRequest,
  redact: Redact,
): AttemptParts {
  return {
    idleTimeoutMs,
    clock,
    signal: request.signal,
    redact,
    onText: (text) => request.onProgress({ type: 'text', text }),
    onBytes: (bytes) => request.onProgress({ type: 'received', bytes }),
  };
}
