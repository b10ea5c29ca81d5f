/** Whether the patch is what was verified. */

import { type FileState, type PathChange, sameState } from './change.ts';

/**
 * For each path of the patch at that time, the state in which the verify commands left it too; `otherwise` for a path that was in
 * another state than the base with the patch has.
 */
export type VerifiedPatch = ReadonlyMap<string, FileState | null | 'otherwise'>;

/** `otherwise`: paths that differed from the base with `net` once the commands had ended. */
export function verifiedPatch(net: readonly PathChange[], otherwise: readonly string[]): VerifiedPatch {
  const verified: [string, FileState | null | 'otherwise'][] = net.map(({ path, after }) => [path, after]);
  return new Map([...verified, ...otherwise.map((path) => [path, 'otherwise'] as const)]);
}

/** Paths that the verify commands saw with other contents than the base with the patch has, sorted. Null: nothing was verified. */
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
