/**
 * The API key, from the environment or from a `.env` in the folder where the command was started. Nothing else is read from
 * that file: otherwise a repository that contains one could determine where the key is sent, or whose key is used.
 */

import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from '../domain/environment.ts';
import { type Warning, warning } from '../domain/warnings/warning.ts';
import { readBytes, textOf } from '../files/regular-file.ts';
import { repositoryRoot, trackedPaths } from '../git/checkout-layout.ts';

const MAX_BYTES = 65_536;

/** `key` is null if there is no usable one. Notes say why a `.env` was ignored; they contain no values. */
export interface ApiKeyRead {
  readonly key: string | null;
  readonly notes: Warning[];
}

/** `name` is the key's variable; `cwd` is the folder where the command was started. A key in `env` takes precedence. */
export async function readApiKey(env: Environment, cwd: string, name: string): Promise<ApiKeyRead> {
  if (env[name]?.trim()) return checked(env[name], name, 'the environment');
  const path = join(cwd, '.env');
  const read = await readBytes(path, { maxBytes: MAX_BYTES });
  if (read.status === 'failed') {
    return { key: null, notes: read.missing ? [] : [unused(`${path} ${read.why} and is not used.`)] };
  }
  const text = textOf(read.bytes);
  if (text === null) return { key: null, notes: [unused(`${path} is not UTF-8 text and is not used.`)] };
  const value = parseEnv(text)[name]?.trim();
  if (!value) return { key: null, notes: [] };

  switch (await gitTracks(cwd)) {
    case 'no':
      return checked(value, name, path);
    case 'yes':
      return {
        key: null,
        notes: [
          unused(`${path} is tracked by git, so its ${name} is not used: it may come from someone else.`),
        ],
      };
    case 'unsure':
      return {
        key: null,
        notes: [unused(`git could not say whether it tracks ${path}, so its ${name} is not used.`)],
      };
  }
}

/** A key travels in an HTTP header, which only allows visible ASCII. */
function checked(value: string, name: string, place: string): ApiKeyRead {
  const key = value.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return { key, notes: [] };
  return {
    key: null,
    notes: [
      unused(`The ${name} in ${place} is not used: it contains blanks or characters that a key cannot have.`),
    ],
  };
}

function unused(why: string): Warning {
  return warning('WARN_KEY_NOT_USED', why);
}

/** Outside a repository, no one else can have supplied the file. */
async function gitTracks(folder: string): Promise<'yes' | 'no' | 'unsure'> {
  const root = await repositoryRoot(folder);
  if (root === null) return 'no';
  // Case-insensitive: on some file systems `.ENV` is the same file.
  const path = join(relative(root, realpathSync(folder)), '.env');
  const paths = await trackedPaths(root, [`:(icase,literal)${path}`]);
  if (paths === null) return 'unsure';
  return paths.length === 0 ? 'no' : 'yes';
}
