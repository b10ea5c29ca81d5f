/** Which calls of a turn run together, and how many at a time. */

import { isWithin } from '../../domain/changes/path.ts';
import type { Lane } from '../../domain/conversation/tool.ts';

/**
 * Adjacent calls of one lane run together: writes only while their targets differ, `finish` always alone. Calls to the outside
 * never run together with commands, so their changes can be distinguished. Images stay in memory until their lane has ended, so
 * lanes of calls that may return images are bounded in length.
 */
export function lanesOf<T extends { lane: Lane; isOutside?: boolean; target?: string | null }>(
  calls: readonly T[],
): T[][] {
  const lanes: T[][] = [];
  for (const call of calls) {
    const last = lanes.at(-1);
    const joins =
      last !== undefined &&
      last[0]?.lane === call.lane &&
      call.lane !== 'finish' &&
      !((call.lane === 'read' || call.isOutside === true) && last.length >= MAX_SIDE_BY_SIDE) &&
      !(call.lane === 'command' && last[0].isOutside !== call.isOutside) &&
      !(call.lane === 'write' && last.some((other) => conflict(other.target, call.target)));
    if (joins) last.push(call);
    else lanes.push([call]);
  }
  return lanes;
}

/** Two writes conflict on the same path and when one path is a folder of the other. */
function conflict(a: string | null | undefined, b: string | null | undefined): boolean {
  if (a == null || b == null) return true;
  return isWithin(a, b) || isWithin(b, a);
}

/**
 * Maximum number of calls that run at the same time: each takes processes, memory and open files, and a turn may contain
 * hundreds.
 */
const MAX_SIDE_BY_SIDE = 16;

/** Results in the order of `items`, with at most `MAX_SIDE_BY_SIDE` of them in progress at a time. */
export async function sideBySide<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const workers = Array.from({ length: MAX_SIDE_BY_SIDE }, async () => {
    for (const [at, item] of queue) results[at] = await work(item);
  });
  await Promise.all(workers);
  return results;
}
