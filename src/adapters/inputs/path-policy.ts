/** The plan's `allow` and `protect` globs as one question: may this path change? */

import picomatch from 'picomatch';

/**
 * `allow` empty means every path; `protect` wins over `allow`. Globs are relative to the repository root; without a
 * slash they match a name at any depth, a folder stands for all below it, and dot files are matched like others.
 */
export function pathPolicy(plan: {
  allow: readonly string[];
  protect: readonly string[];
}): (path: string) => boolean {
  const allowed = matcher(plan.allow);
  const isProtected = matcher(plan.protect);
  return (path) => (plan.allow.length === 0 || allowed(path)) && !isProtected(path);
}

function matcher(globs: readonly string[]): (path: string) => boolean {
  if (globs.length === 0) return () => false;
  return picomatch(globs.flatMap(withAllBelow), { dot: true, nonegate: true });
}

// `docs` is `**/docs` and `**/docs/**`, `docs/` is only the latter; `/x`, `./x` and `a/b` begin at the root.
function withAllBelow(glob: string): string[] {
  const isFolder = glob.endsWith('/');
  const name = glob.replace(/\/+$/, '');
  const rooted = name.includes('/') ? name.replace(/^\.?\//, '') : name === '' ? '' : `**/${name}`;
  const below = rooted === '' ? '**' : `${rooted}/**`;
  return isFolder ? [below] : [rooted, below];
}
