/** The `allow` and `protect` globs of the plan and of the settings as one question: may this path change? */

import picomatch from 'picomatch';
import type { PathRules } from '../../domain/plan.ts';

/**
 * True for a path that all rules permit. `allow` empty means every path; `protect` wins over `allow`. Globs are relative to
 * the repository root; without a slash they match a name at any depth, a folder stands for all below it, and dot files are
 * matched like others.
 */
export function pathPolicy(...rules: readonly PathRules[]): (path: string) => boolean {
  const judges = rules.map(({ allow, protect }) => {
    const allowed = pathMatcher(allow);
    const isProtected = pathMatcher(protect);
    return (path: string) => (allow.length === 0 || allowed(path)) && !isProtected(path);
  });
  return (path) => judges.every((permits) => permits(path));
}

/** True for a path that one of the globs names, by the same rules. */
export function pathMatcher(globs: readonly string[]): (path: string) => boolean {
  if (globs.length === 0) return () => false;
  // A name may hold newlines, and `**` stands for those too.
  return picomatch(globs.flatMap(withAllBelow), { dot: true, nonegate: true, flags: 's' });
}

// `docs` is `**/docs` and `**/docs/**`, `docs/` is only the latter; `/x`, `./x` and `a/b` begin at the root.
function withAllBelow(glob: string): string[] {
  const isFolder = glob.endsWith('/');
  const name = glob.replace(/\/+$/, '');
  const rooted = name.includes('/') ? name.replace(/^\.?\//, '') : name === '' ? '' : `**/${name}`;
  const below = rooted === '' ? '**' : `${rooted}/**`;
  return isFolder ? [below] : [rooted, below];
}
