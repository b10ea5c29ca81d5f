/** Selects the contents that the end of a run has to read. */

import type { PathChange } from '../../domain/changes/change.ts';

/** Maximum bytes read of one state of a file, and of all states together; the largest are left out first. */
export const MAX_STATE_BYTES = 1024 * 1024;
const MAX_STATES_BYTES = 16 * 1024 * 1024;

/** Ids of the states of these changes, the smallest first, as far as they fit into the bounds. */
export function statesToRead(changes: readonly PathChange[]): string[] {
  const sizes = new Map<string, number>();
  for (const { before, after } of changes) {
    for (const state of [before, after]) {
      if (state && state.mode !== '160000' && state.size <= MAX_STATE_BYTES)
        sizes.set(state.blob, state.size);
    }
  }
  let total = 0;
  const bySize = [...sizes].sort(([, a], [, b]) => a - b);
  return bySize.flatMap(([blob, size]) => {
    total += size;
    return total <= MAX_STATES_BYTES ? [blob] : [];
  });
}
