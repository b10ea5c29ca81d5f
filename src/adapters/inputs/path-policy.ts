/** The plan's `allow` and `protect` globs as one question: may this path change? */

import picomatch from 'picomatch';

/**
 * `allow` empty means every path; `protect` wins over `allow`. Globs are relative to the repository root; without a
 * slash they match a name at any depth, a trailing slash means all below, and dot files are matched like others.
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
  return picomatch(globs.map(rooted), { dot: true, nonegate: true });
}

// `docs/` is `**/docs/**`, `*.md` is `**/*.md`, `/x` and `a/b` are rooted.
function rooted(glob: string): string {
  const below = glob.endsWith('/') ? `${glob}**` : glob;
  if (below.startsWith('/')) return below.slice(1);
  return glob.slice(0, -1).includes('/') ? below : `**/${below}`;
}
