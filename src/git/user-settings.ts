/** The user's own configuration of line endings, modes and ignored files. Read once, at the start. */

import { resolve } from 'node:path';
import type { Environment } from '../domain/environment.ts';
import { decodeName } from '../files/names.ts';
import { askGit } from './git.ts';

/** Environment variables that locate the user's git configuration; others are ignored. */
export type UserEnvironment = Environment;

/** The user's git settings that affect how git stores a file. */
export interface UserSettings {
  readonly autocrlf: 'true' | 'input' | 'false';
  readonly eol: 'lf' | 'crlf';
  /** The executable bit is significant. */
  readonly fileMode: boolean;
  readonly ignoreCase: boolean;
  /** Absolute path of a file of ignore rules, which may not exist; null if none is possible. */
  readonly excludesFile: string | null;
  readonly attributesFile: string | null;
  /** Names of the filters that git would run. An unconfigured filter does nothing. */
  readonly filters: ReadonlySet<string>;
}

/** Those that say how files are read, as lines of a `[core]` section. */
export type CoreSettings = Readonly<Record<string, string | boolean>>;

/** For a git dir of our own. */
export function coreSettings({ fileMode, ignoreCase, autocrlf, eol }: UserSettings): CoreSettings {
  return { filemode: fileMode, ignorecase: ignoreCase, autocrlf, eol };
}

/** Queries `git config`, which runs nothing, in the repository at `root`. */
export async function readUserSettings(root: string, env: UserEnvironment): Promise<UserSettings> {
  const listed = await askGit({
    cwd: root,
    args: ['config', '-z', '--get-regexp', WANTED],
    env: userGitEnvironment(env),
  });
  // Exit code 1 means that none is set.
  if (listed.exitCode !== 0 && listed.exitCode !== 1) throw new Error(`git config failed: ${listed.stderr}`);
  const values = new Map<string, string>();
  for (const record of decodeName(listed.stdout).split('\0')) {
    const cut = record.indexOf('\n');
    if (record !== '')
      values.set(cut < 0 ? record : record.slice(0, cut), cut < 0 ? 'true' : record.slice(cut + 1));
  }
  const autocrlf = values.get('core.autocrlf') ?? 'false';
  return {
    autocrlf: autocrlf.toLowerCase() === 'input' ? 'input' : isTrue(autocrlf) ? 'true' : 'false',
    eol: values.get('core.eol')?.toLowerCase() === 'crlf' ? 'crlf' : 'lf',
    fileMode: isTrue(values.get('core.filemode') ?? 'true'),
    ignoreCase: isTrue(values.get('core.ignorecase') ?? 'false'),
    excludesFile: ruleFile(values.get('core.excludesfile'), 'ignore', root, env),
    attributesFile: ruleFile(values.get('core.attributesfile'), 'attributes', root, env),
    filters: new Set([...values.keys()].flatMap((name) => /^filter\.(.*)\.[a-z]+$/s.exec(name)?.[1] ?? [])),
  };
}

const WANTED =
  '^(core\\.(autocrlf|eol|filemode|ignorecase|excludesfile|attributesfile)|filter\\..*\\.(clean|process))$';

/** The user's global and system configuration, for the few calls that need it. */
export function userGitEnvironment(env: UserEnvironment): Record<string, string | undefined> {
  return {
    HOME: env.HOME,
    XDG_CONFIG_HOME: env.XDG_CONFIG_HOME,
    GIT_CONFIG_GLOBAL: env.GIT_CONFIG_GLOBAL,
    GIT_CONFIG_SYSTEM: env.GIT_CONFIG_SYSTEM,
    GIT_CONFIG_NOSYSTEM: env.GIT_CONFIG_NOSYSTEM,
    GIT_ATTR_NOSYSTEM: undefined,
  };
}

/** A file named in the configuration, otherwise git's default location. */
function ruleFile(
  named: string | undefined,
  name: string,
  root: string,
  env: UserEnvironment,
): string | null {
  if (named === '') return null;
  if (named !== undefined) {
    if (!named.startsWith('~/')) return resolve(root, named);
    return env.HOME === undefined ? null : resolve(env.HOME, named.slice(2));
  }
  if (env.XDG_CONFIG_HOME) return resolve(env.XDG_CONFIG_HOME, 'git', name);
  return env.HOME ? resolve(env.HOME, '.config/git', name) : null;
}

/** Git's booleans: a name without a value is true, an empty value is false, numbers other than 0 are true. */
function isTrue(value: string): boolean {
  return /^(true|yes|on|0*[1-9]\d*)$/i.test(value);
}
