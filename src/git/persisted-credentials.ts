/** Credentials that other tools have left in the git configuration of a checkout, as actions/checkout does. */

import { resolve } from 'node:path';
import { percentDecoded, withoutUsers } from '../domain/text/uri.ts';
import { decodeName } from '../files/names.ts';
import { askGit } from './git.ts';
import { textOfFile } from './repository-file.ts';
import { type UserEnvironment, userGitEnvironment } from './user-settings.ts';

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
