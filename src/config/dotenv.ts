/**
 * The API key, from the environment or from a `.env` in the folder where the command was started. Nothing else is read
 * from that file: a repository that brings one could otherwise choose where the key is sent, or whose key is used.
 */

import { join } from 'node:path';
import { readBytes, textOf } from '../files/read-bytes.ts';
import { repositoryRoot } from '../git/repository-root.ts';

const KEY_NAME = 'ANTHROPIC_API_KEY';
const MAX_BYTES = 65_536;

/** `key` is null when there is none that can be used. Notes say why a `.env` was passed over; they hold no values. */
export interface ApiKeyRead {
  readonly key: string | null;
  readonly notes: string[];
}

/** `cwd` is the folder where the command was started. A key in `env` wins. */
export async function readApiKey(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Promise<ApiKeyRead> {
  if (env[KEY_NAME]?.trim()) return checked(env[KEY_NAME], 'the environment');
  const path = join(cwd, '.env');
  const read = await readBytes(path, { maxBytes: MAX_BYTES });
  if (read.status === 'failed') {
    return { key: null, notes: read.missing ? [] : [`${path} ${read.why} and is not used.`] };
  }
  const text = textOf(read.bytes);
  if (text === null) return { key: null, notes: [`${path} is not UTF-8 text and is not used.`] };
  const value = valueIn(text, KEY_NAME)?.trim();
  if (!value) return { key: null, notes: [] };

  switch (await gitTracks(cwd)) {
    case 'no':
      return checked(value, path);
    case 'yes':
      return {
        key: null,
        notes: [`${path} is tracked by git, so its ${KEY_NAME} is not used: whoever wrote it is not you.`],
      };
    case 'unsure':
      return {
        key: null,
        notes: [`git could not say whether it tracks ${path}, so its ${KEY_NAME} is not used.`],
      };
  }
}

/** The value of one variable; null when it is not set. Quotes, `export`, comments and values of several lines are known. */
export function valueIn(dotenv: string, name: string): string | null {
  const assignment =
    /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:'([^']*)'|"((?:\\.|[^"\\])*)"|([^\r\n]*))/gms;
  let found: string | null = null;
  for (const [, key, single, double, bare] of dotenv.matchAll(assignment)) {
    if (key !== name) continue;
    found =
      single ??
      double?.replace(/\\(.)/gs, (_, character: string) => (character === 'n' ? '\n' : character)) ??
      (bare ?? '').replace(/(?:^|\s+)#.*$/, '').trim();
  }
  return found;
}

/** A key travels in an HTTP header, where only visible ASCII can stand. */
function checked(value: string, place: string): ApiKeyRead {
  const key = value.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return { key, notes: [] };
  return {
    key: null,
    notes: [`The ${KEY_NAME} in ${place} is not used: it holds blanks or characters that no key has.`],
  };
}

/** Where git may come from. PATH may name folders of the repository, and this is asked in one. */
const GIT_FOLDERS = '/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin';

/** Outside a repository nobody else can have brought the file. Git runs nothing of the repository here. */
async function gitTracks(folder: string): Promise<'yes' | 'no' | 'unsure'> {
  const root = await repositoryRoot(folder);
  if (root === null) return 'no';
  const settings = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', `safe.directory=${root}`];
  // In any case of letters: on some file systems `.ENV` is the same file.
  const pathspec = ':(icase,literal).env';
  // Only a .env with a key needs it.
  const { execa } = await import('execa');
  const result = await execa(
    'git',
    [...settings.flatMap((setting) => ['-c', setting]), 'ls-files', '-z', '--', pathspec],
    {
      cwd: folder,
      extendEnv: false,
      env: {
        PATH: GIT_FOLDERS,
        HOME: '/nonexistent',
        LC_ALL: 'C',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_OPTIONAL_LOCKS: '0',
        GIT_TERMINAL_PROMPT: '0',
      },
      reject: false,
      stdin: 'ignore',
      timeout: 10_000,
    },
  );
  if (result.failed) return 'unsure';
  return result.stdout === '' ? 'no' : 'yes';
}
