/**
 * The user's own configuration of line endings, modes and ignored files, read once, at the start; and credentials that other tools have
 * left in that of a checkout, as actions/checkout does.
 */

import { resolve } from 'node:path';
import type { Environment } from '../domain/environment.ts';
import { percentDecoded, withoutUsers } from '../domain/text/uri.ts';
import { decodeName } from '../files/names.ts';
import { askGit } from './git.ts';
import { textOfFile } from './repository-file.ts';

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

/** Credentials that `actions/checkout` and others leave in git's configuration. */
export interface PersistedCredentials {
  /** The settings that contain them, each with its file. */
  readonly places: readonly string[];
  readonly secrets: readonly string[];
}

/**
 * Examines everything that git itself would read, including conditionally included files: since version 6 actions/checkout
 * keeps the token in one of those, outside the repository. Runs nothing.
 */
export async function findPersistedCredentials(
  root: string,
  env: UserEnvironment,
): Promise<PersistedCredentials> {
  const args = ['config', '--list', '--includes', '--show-origin', '-z'];
  const answer = await askGit({ cwd: root, env: userGitEnvironment(env), args });
  // A configuration that git cannot read gives git no credentials either.
  if (answer.exitCode !== 0) return { places: [], secrets: [] };
  const records = decodeName(answer.stdout).split('\0');
  const places = new Set<string>();
  const secrets = new Set<string>();
  for (let at = 0; at + 1 < records.length; at += 2) {
    const [key = '', value = ''] = splitOnce(records[at + 1] ?? '');
    const found = secretsIn(key, value, env);
    if (found === null) continue;
    places.add(`${withoutUsers(key)} (${(records[at] ?? '').replace(/^file:/, '')})`);
    for (const secret of found) if (secret !== '') secrets.add(secret);
  }
  return { places: [...places], secrets: [...secrets] };
}

/** Null if the setting contains no credentials; empty if it points to some that we cannot read. */
function secretsIn(key: string, value: string, env: UserEnvironment): string[] | null {
  if (/^http\.(?:.*\.)?extraheader$/is.test(key)) return headerSecrets(value);
  if (/^http\.(?:.*\.)?(?:sslkey|cookiefile)$/is.test(key)) return [];
  if (key.toLowerCase() === 'core.sshcommand') return /\s-i\s/.test(value) ? [] : null;
  if (/^credential\.(?:.*\.)?helper$/is.test(key)) return storedSecrets(value, env);
  const inAddress = [...addressSecrets(key), ...addressSecrets(value)];
  return inAddress.length > 0 ? inAddress : null;
}

/** `AUTHORIZATION: basic BASE64(name:password)`, or `bearer TOKEN`. Null for headers that authenticate nobody. */
function headerSecrets(header: string): string[] | null {
  const [name, value = ''] = splitOnce(header, ':').map((part) => part?.trim() ?? '');
  if (value === '' || !/^[\w-]*$/.test(name ?? '') || !/authorization|token|key/i.test(name ?? ''))
    return null;
  const [scheme = '', credentials = scheme] = value.split(/\s+/);
  if (scheme.toLowerCase() !== 'basic') return [credentials];
  const plain = Buffer.from(credentials, 'base64').toString('utf8');
  return [credentials, plain, plain.slice(plain.indexOf(':') + 1)];
}

/** Passwords in addresses; a name on its own may be a token. */
function addressSecrets(text: string): string[] {
  return [...text.matchAll(/:\/\/([^/\s@]+)@/g)].flatMap(([, userinfo = '']) => {
    const [name = '', password] = splitOnce(userinfo, ':');
    const secret = password ?? (/^(?:gh[a-z]_|github_pat_|[\w-]{36,}$)/.test(name) ? name : '');
    return secret === '' ? [] : [secret, percentDecoded(secret)];
  });
}

/** `store` keeps addresses with passwords in a file; a shell helper may contain one itself. */
function storedSecrets(helper: string, env: UserEnvironment): string[] | null {
  const inline = [...helper.matchAll(/password=["']?([^\s"';&|]+)/g)].map(([, password = '']) => password);
  if (inline.length > 0) return inline.filter((password) => !password.startsWith('$'));
  const store = /^\s*store\b(?:.*?--file[= ]\s*("[^"]*"|'[^']*'|\S+))?/.exec(helper);
  if (!store) return null;
  const home = env.HOME ?? '/nonexistent';
  const named = store[1]?.replace(/^["']|["']$/g, '').replace(/^~(?=\/)/, home);
  const text = textOfFile(resolve(home, named ?? '.git-credentials'), { follow: true });
  return text === null ? null : addressSecrets(text);
}

function splitOnce(text: string, mark = '\n'): [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
