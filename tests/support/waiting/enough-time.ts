/**
 * Does something within a time limit that strikes in the middle of it: with ever longer limits, until it gets as far as it
 * should before. A busy machine needs longer, and no limit is right for all.
 */
export async function withEnoughTime<T>(
  act: (limitMs: number) => Promise<T>,
  gotFar: (end: T) => boolean,
): Promise<T> {
  for (let limitMs = 1_000; ; limitMs *= 3) {
    const end = await act(limitMs);
    if (gotFar(end) || limitMs > 60_000) return end;
  }
}
