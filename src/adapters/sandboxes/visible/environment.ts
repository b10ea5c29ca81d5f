/** The environment of commands: built from scratch by an allow-list. Nothing else reaches a command. */

import { join } from 'node:path';
import { isWithin } from '../../../domain/changes/path.ts';
import type { Environment } from '../../../domain/environment.ts';

/** Locale, time zone, CI and terminal type: passed on unchanged, since projects depend on them and they contain no secret. */
export const FROM_HOST = ['LANG', 'LC_ALL', 'TZ', 'CI', 'USER', 'TERM'];

/** What the environment of a command is built from. */
export interface CommandSurroundings {
  readonly hostEnv: Environment;
  readonly path: readonly string[];
  readonly home: string;
  /** System-wide git configuration used instead of the machine's. */
  readonly gitConfig: string;
  /** Variables that point to toolchains. */
  readonly toolchains: Readonly<Record<string, string>>;
}

/** The variables that a command gets: a fixed few, and nothing secret. */
export function commandEnvironment(surroundings: CommandSurroundings): Record<string, string> {
  const env: Record<string, string> = { LANG: 'C.UTF-8', CI: 'true' };
  for (const name of FROM_HOST) {
    const value = surroundings.hostEnv[name];
    if (value !== undefined) env[name] = value;
  }
  return {
    ...env,
    ...inEnglish(env),
    ...surroundings.toolchains,
    PATH: surroundings.path.join(':'),
    HOME: surroundings.home,
    TMPDIR: '/tmp',
    GIT_CONFIG_SYSTEM: surroundings.gitConfig,
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
  };
}

/**
 * Messages in English where the locale is of another language, since denials are told by their words. The character set, dates and
 * numbers stay as they are. Elsewhere it is left out: it would hide the translations that a project's own tests ask for.
 */
function inEnglish({ LC_ALL, LANG }: Record<string, string>): { LANGUAGE?: string } {
  return /^(?:C|POSIX|en)(?![a-z])/i.test(LC_ALL || LANG || 'C') ? {} : { LANGUAGE: 'en' };
}

/**
 * A system configuration that lets git work in a tree with another owner, for exactly that tree, and commit without a
 * configured user. As the lowest level, it is overridden by whatever a project's own tests configure.
 * `tunnel` is the program through which git:// goes.
 */
export function gitConfig(root: string, tunnel: string | null = null): string {
  const quoted = root.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
  return [
    `[safe]\n\tdirectory = "${quoted}"`,
    '[user]\n\tname = patchsmith\n\temail = patchsmith@localhost',
    // A garbage collection would outlive its command and be killed half-way.
    '[gc]\n\tauto = 0',
    ...(tunnel === null ? [] : [`[core]\n\tgitProxy = ${tunnel}`]),
    '',
  ].join('\n');
}

/** Variables through which package managers find a cache, each with its default folder below the home folder. */
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

/**
 * Those of the caches that the operator has mounted, since the home folder inside is another. A cache counts if it, or a part of it, is
 * among the paths `mounted`.
 */
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
