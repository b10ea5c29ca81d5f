/** Whether the patch is what was verified. */

import { type FileState, type PathChange, sameState } from './change.ts';

/** For each path of the patch at the time, the state that the verify commands left it in as well; `otherwise` where they did not. */
export type VerifiedPatch = ReadonlyMap<string, FileState | null | 'otherwise'>;

/** `otherwise`: paths that were not as in `net` when the commands had ended. */
export function verifiedPatch(net: readonly PathChange[], otherwise: readonly string[]): VerifiedPatch {
  const differing = new Set(otherwise);
  return new Map(net.map(({ path, after }) => [path, differing.has(path) ? 'otherwise' : after]));
}

/** Paths with other contents in the patch than the verify commands had before them, sorted. Null: nothing was verified. */
export function unverifiedPaths(verified: VerifiedPatch | null, net: readonly PathChange[]): string[] {
  if (verified === null) return [];
  const now = new Map(net.map(({ path, after }) => [path, after]));
  const isAsVerified = (path: string) => {
    const state = verified.get(path);
    const after = now.get(path);
    return state !== undefined && state !== 'otherwise' && after !== undefined && sameState(state, after);
  };
  return [...new Set([...verified.keys(), ...now.keys()])].filter((path) => !isAsVerified(path)).sort();
}
