/** The time of the process: it goes forward evenly, whatever somebody does to the machine's clock meanwhile. */

/**
 * Unix time in whole milliseconds: that of the machine's clock when the process began, and what has passed since. A clock
 * that is set anew during a run neither ends it nor shortens what it took.
 */
export function monotonicNow(): number {
  return Math.round(performance.timeOrigin + performance.now());
}
