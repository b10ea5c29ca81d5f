/**
 * Variables through which package managers find a cache that the operator has mounted; the home folder inside is a different
 * one.
 */

import { join } from 'node:path';
import { isWithin } from '../../../domain/changes/path.ts';
import type { Environment } from '../../../domain/environment.ts';

/** Each with its default folder below the home folder. */
const CACHES = {
  BUNDLE_USER_HOME: '.bundle',
  CARGO_HOME: '.cargo',
  GOCACHE: '.cache/go-build',
  GOMODCACHE: 'go/pkg/mod',
  GRADLE_USER_HOME: '.gradle',
  NUGET_PACKAGES: '.nuget/packages',
  PIP_CACHE_DIR: '.cache/pip',
  POETRY_CACHE_DIR: '.cache/pypoetry',
  UV_CACHE_DIR: '.cache/uv',
  YARN_CACHE_FOLDER: '.cache/yarn',
  npm_config_cache: '.npm',
} as const;

/** `mounted` are the paths added by the operator. A cache counts if it, or a part of it, is among them. */
export function cacheVariables(env: Environment, mounted: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, usual] of Object.entries(CACHES)) {
    const folder = env[name] ?? (env.HOME === undefined ? undefined : join(env.HOME, usual));
    if (folder === undefined) continue;
    if (isMounted(folder)) found[name] = folder;
  }
  // Maven has no separate variable for it, and its script allows no quotes in this one.
  const maven = join(env.HOME ?? '/nonexistent', '.m2/repository');
  if (isMounted(maven) && !/\s/.test(maven)) found.MAVEN_OPTS = `-Dmaven.repo.local=${maven}`;
  return found;

  function isMounted(folder: string): boolean {
    return mounted.some((path) => isWithin(path, folder) || isWithin(folder, path));
  }
}
