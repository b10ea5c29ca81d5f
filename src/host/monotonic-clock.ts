/** The time of the process: it advances steadily, even if the machine's clock is changed. */

/**
 * Unix time in whole milliseconds: the machine's clock when the process began, plus the time that has passed since. Setting
 * the clock during a run neither ends the run nor shortens its duration.
 */
export function monotonicNow(): number {
  return Math.round(performance.timeOrigin + performance.now());
}
