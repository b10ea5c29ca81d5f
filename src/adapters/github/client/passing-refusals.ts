/** Temporary refusals: something was just created and is not known on all of GitHub's servers yet, or GitHub asks for a pause. */

import { setTimeout as delay } from 'node:timers/promises';
import type { GitHubAnswer, GitHubRefusal } from '../../../ports/github.ts';

/**
 * An answer with the pause that GitHub asks for, in seconds: null when it names none, `spent` when it was waited for already.
 */
export interface TimedAnswer<T> {
  readonly answer: GitHubAnswer<T>;
  readonly retryAfterS: number | null | 'spent';
}

/** Longest wait for a rate limit, in seconds. */
export const MAX_WAIT_S = 120;

/** Pauses before retries, in seconds, until a new object is known everywhere: 15 s in all. */
const SETTLING_S = [1, 2, 4, 8];

/** Most pauses for a rate limit. */
const MAX_LIMIT_WAITS = 2;

/** GitHub's own advice where a rate limit does not say how long it lasts. */
const UNSAID_LIMIT_S = 60;

/**
 * Asks again as long as the refusal is one that passes. None of them has carried anything out, so that a write can be repeated
 * as well. Pauses end early when the signal aborts; a second of them lasts `secondMs`.
 */
export async function askUntilSettled<T>(
  ask: () => Promise<TimedAnswer<T>>,
  { signal, secondMs }: { signal: AbortSignal; secondMs: number },
): Promise<GitHubAnswer<T>> {
  for (let tries = 0; ; tries += 1) {
    const { answer, retryAfterS } = await ask();
    const seconds = answer.status === 'ok' ? null : pauseAfter(answer.refusal, retryAfterS, tries);
    if (seconds === null) return answer;
    await pause(seconds * secondMs, signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Null when another try would not help. `tries` counts those before, from 0. */
function pauseAfter(
  refusal: GitHubRefusal,
  retryAfterS: TimedAnswer<unknown>['retryAfterS'],
  tries: number,
): number | null {
  if (isUnsettled(refusal)) return SETTLING_S[tries] ?? null;
  const { status, message } = refusal;
  const isNamed = retryAfterS !== null || isSecondaryLimit(message);
  const isLimit = status === 429 || (status === 403 && isNamed);
  if (!isLimit || retryAfterS === 'spent') return null;
  const seconds = retryAfterS ?? UNSAID_LIMIT_S;
  return tries < MAX_LIMIT_WAITS && seconds <= MAX_WAIT_S ? seconds : null;
}

/** Whether GitHub asks for a pause in these words; it need not say how long. */
export function isSecondaryLimit(message: string): boolean {
  return /\bsecondary rate\b/i.test(message);
}

/** Whether the refusal is about something that was made a moment ago, by GitHub's words for it. */
function isUnsettled({ route, status, message }: GitHubRefusal): boolean {
  if (status === null || status >= 500 || route.startsWith('GET ')) return false;
  return UNSETTLED.some(([routes, words]) => routes.test(route) && words.test(message));
}

const UNSETTLED: readonly (readonly [RegExp, RegExp])[] = [
  [/\/git\/trees$/, /base_tree is not a valid tree|tree\.sha \w+ is not a valid blob/],
  [/\/git\/commits$/, /Tree SHA does not exist|Parent SHA does not exist/],
  [/\/git\/refs/, /Object does not exist|Reference update failed/],
  [/\/pulls$/, /"field":"head","code":"invalid"|"code":"invalid","field":"head"/],
  [/./, /Could not resolve to a node/],
];

/** Reads `Retry-After`: seconds, or a date. Null when it says neither. */
export function retryAfterSeconds(header: string | null, now: Date): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header.trim())) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now.getTime()) / 1_000));
}
