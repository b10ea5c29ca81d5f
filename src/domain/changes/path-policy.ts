/** Combines the `allow` and `protect` globs of the plan and the settings into one question: may this path change? */

import type { PathRules } from '../run/plan.ts';
import { withoutTail } from '../text/shorten.ts';
import type { PathChange } from './change.ts';
import { globMatcher } from './glob.ts';
import { foldersOf } from './path.ts';

/**
 * True for a path that all rules permit to change. `allow` empty means every path; `protect` wins over `allow`. Globs are
 * relative to the repository root; without a slash they match a name at any depth, a folder includes everything below it,
 * and dot files are matched like others.
 */
export function pathPolicy(...rules: readonly PathRules[]): (path: string) => boolean {
  const judges = rules.map(({ allow, protect }) => {
    const allowed = pathMatcher(allow);
    const isProtected = pathMatcher(protect);
    return (path: string) => (allow.length === 0 || allowed(path)) && !isProtected(path);
  });
  return (path) => judges.every((permits) => permits(path));
}

/**
 * True for a folder below which the rules may forbid something: a `protect` glob could match a path there, or no `allow`
 * glob matches the folder. Only globs are checked, not files, so that the answer also holds for files yet to be created; if
 * a wildcard leaves it open, the answer is true.
 */
export function forbidsBelow(...rules: readonly PathRules[]): (folder: string) => boolean {
  const judges = rules.map(({ allow, protect }) => {
    const allowed = pathMatcher(allow);
    return (folder: string) =>
      (allow.length > 0 && !allowed(folder)) || protect.some((glob) => mayReachInto(folder, glob));
  });
  return (folder) => judges.some((forbids) => forbids(folder));
}

/** False only if a literal name in the glob, before its first wildcard, differs from the folder's. */
function mayReachInto(folder: string, glob: string): boolean {
  const rooted = withItsFolder(glob);
  if (!rooted.includes('/')) return true;
  const names = folder.split('/');
  for (const [depth, segment] of rooted
    .replace(/^(?:\.?\/)+/, '')
    .split('/')
    .entries()) {
    if (depth >= names.length || /[*?[\]{}\\]/.test(segment)) return true;
    if (segment !== names[depth]) return false;
  }
  return true;
}

/** What ignore rules and attributes that a run writes must not get around. */
export interface PathGuard {
  /** False for a path that may not change. */
  permits(path: string): boolean;
  /** True for a path that a `protect` glob matches. */
  protects(path: string): boolean;
}

/** That of a run without rules. */
export const NO_GUARD: PathGuard = { permits: () => true, protects: () => false };

/** The guard of a run with these rules. */
export function pathGuard(...rules: readonly PathRules[]): PathGuard {
  return { permits: pathPolicy(...rules), protects: pathMatcher(rules.flatMap(({ protect }) => protect)) };
}

/** True for a path that one of the globs matches, by the same rules. */
export function pathMatcher(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs.map((glob) => globMatcher(withItsFolder(glob)));
  return (path) => matchers.some((matches) => matches(path));
}

// `docs/` and `docs/**` also match `docs`: whatever replaces a folder changes everything that was below it.
function withItsFolder(glob: string): string {
  const named = withoutTail(glob, '/');
  let folder = named;
  while (folder.endsWith('/**')) folder = withoutTail(folder.slice(0, -'/**'.length), '/');
  const isRooted = folder !== named;
  return isRooted ? `/${folder}` : folder;
}

/**
 * `wanted`, plus those of `all` that conflict with them: a file where a folder has to be restored, and files in a folder
 * where a file has to be restored.
 */
export function withConflictingPaths(
  wanted: readonly PathChange[],
  all: readonly PathChange[],
): PathChange[] {
  const taken = new Set(wanted);
  for (let isDone = wanted.length === 0; !isDone; ) {
    const back = [...taken].flatMap(({ path, before }) => (before === null ? [] : [path]));
    const files = new Set(back);
    const folders = new Set(back.flatMap((path) => [...foldersOf(path)]));
    const inTheWay = all.filter(
      (change) =>
        !taken.has(change) &&
        change.after !== null &&
        (folders.has(change.path) || [...foldersOf(change.path)].some((folder) => files.has(folder))),
    );
    for (const change of inTheWay) taken.add(change);
    isDone = inTheWay.length === 0;
  }
  return [...taken];
}

/** The globs of the settings; where these are not set, those of the run that is continued. */
export function pathsOf(
  { allow, protect, readOnly }: PathRules & { readonly readOnly: boolean },
  first: PathRules = { allow: [], protect: [] },
): { allow: string[]; protect: string[] } {
  return {
    allow: [...(allow.length > 0 ? allow : first.allow)],
    protect: readOnly ? ['**'] : [...new Set([...protect, ...first.protect])],
  };
}
