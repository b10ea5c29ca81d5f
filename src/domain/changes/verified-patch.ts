/** Whether the patch is what was verified. */

import { type FileState, type PathChange, sameState } from './change.ts';

/**
 * For each path of the patch at that time, the state in which the verify commands left it too; `otherwise` if they left it
 * in another.
 */
export type VerifiedPatch = ReadonlyMap<string, FileState | null | 'otherwise'>;

/** `otherwise`: paths that differed from `net` once the commands had ended. */
export function verifiedPatch(net: readonly PathChange[], otherwise: readonly string[]): VerifiedPatch {
  const differing = new Set(otherwise);
  return new Map(net.map(({ path, after }) => [path, differing.has(path) ? 'otherwise' : after]));
}

/** Paths whose contents in the patch differ from what the verify commands saw, sorted. Null: nothing was verified. */
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
