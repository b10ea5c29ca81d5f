/**
 * The keys of model providers, from the environment or from a `.env` in the folder where the command was started, and the message
 * if one is missing. Nothing else is read from that file: otherwise a repository that contains one could determine where the key
 * is sent, or whose key is used.
 */

import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseEnv } from 'node:util';

import { KEY_VARIABLES, keyVariablesAt, providerNamed } from '../adapters/providers/registry.ts';
import type { Environment } from '../domain/environment.ts';
import { type Problem, prefixedProblems, problem } from '../domain/errors/problem.ts';
import { type Warning, warning, warningText } from '../domain/warnings/warning.ts';
import { readBytes, textOf } from '../files/regular-file.ts';
import { repositoryRoot, trackedPaths } from '../git/checkout-layout.ts';
import { otherModels } from './named-provider.ts';
import type { Settings } from './schema.ts';

/** Where keys may be. */
export interface KeyPlaces {
  readonly env: Environment;
  /** The folder of the `.env`. */
  readonly cwd: string;
  /** A workflow step gets inputs, and messages use their names. Default: false. */
  readonly isStep?: boolean;
  /** There is a login instead of a key. */
  readonly federation?: object;
}

/** The key of a provider, or why it is missing; neither key nor problem if the provider needs none. */
export async function readKey(
  { env, cwd, isStep = false, federation }: KeyPlaces,
  { provider: name, baseUrl }: Pick<Settings, 'provider' | 'baseUrl'>,
): Promise<{ key: string | null; notes: Warning[]; problems: Problem[] }> {
  const provider = providerNamed(name);
  const names = provider === null ? [] : keyVariablesAt(provider, baseUrl);
  const [variable = null] = names;
  const isLoggedIn = federation !== undefined && provider?.federation !== null;
  if (provider === null || variable === null || isLoggedIn) return { key: null, notes: [], problems: [] };
  const { key, notes } = await readApiKey(env, cwd, names);
  if (key === null && baseUrl !== null && provider.mayLackKeyAt?.(new URL(baseUrl)))
    return { key, notes: [...notes, ...warningOf(variable, new URL(baseUrl))], problems: [] };
  const missing = isStep
    ? `there is no key of ${provider.meaning}: api-key is empty, and so is ${variable}. Is the secret set, and does this event receive it? Pull requests from forks and from Dependabot do not`
    : `${variable} is not set: set it in the environment, or in a .env in this folder that git does not track; patchsmith demo needs none`;
  const lacking = [...notes.map(warningText), missing];
  const problems = key === null ? lacking.map((message) => problem('ERR_NO_KEY', message)) : [];
  return { key, notes, problems };
}

/** On this machine it is not missed. */
function warningOf(variable: string, { host, hostname }: URL): Warning[] {
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return isHere
    ? []
    : [warning('WARN_NO_KEY', `${variable} is not set: requests to ${host} are sent without a key.`)];
}

/** The keys of the providers of the fallback model and of the reviewer, where these are others and need one. */
export async function readOtherKeys(
  places: KeyPlaces,
  settings: Settings,
): Promise<{ keys: Record<string, string>; notes: Warning[]; problems: Problem[] }> {
  const { fallback, reviewer } = otherModels(settings);
  const asked = [
    { parts: fallback, flag: `--fallback-model ${settings.fallbackModel}` },
    { parts: reviewer, flag: `--review-model ${settings.reviewModel}` },
  ];
  const keys: Record<string, string> = {};
  const notes = new Set<Warning>();
  const problems: Problem[] = [];
  for (const { parts, flag } of asked) {
    if (parts === null || parts.provider === settings.provider) continue;
    const variable = providerNamed(parts.provider)?.baseUrlVariable ?? '';
    const baseUrl = places.env[variable] || null;
    const read = await readKey(places, {
      provider: parts.provider,
      baseUrl: URL.canParse(baseUrl ?? '') ? baseUrl : null,
    });
    if (read.key !== null) keys[parts.provider] = read.key;
    for (const note of read.notes) notes.add(note);
    problems.push(...prefixedProblems(`${flag}: `, read.problems));
  }
  return { keys, notes: [...notes], problems };
}

/** Keys are passed separately, because anything in an environment ends up in a child process sooner or later. */
export function withoutKey(env: KeyPlaces['env']): KeyPlaces['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !KEY_VARIABLES.includes(name)));
}

/** For children that inherit an environment: the run itself still needs to know the tokens in order to redact them. */
export function withoutKeyAndTokens({
  GITHUB_TOKEN: _token,
  GH_TOKEN: _other,
  ...env
}: KeyPlaces['env']): KeyPlaces['env'] {
  return withoutKey(env);
}

const MAX_DOTENV_BYTES = 65_536;

/** `key` is null if there is no usable one. Notes say why a `.env` was ignored; they contain no values. */
interface ApiKeyRead {
  readonly key: string | null;
  readonly notes: Warning[];
}

/** The first of the keys by these names; `cwd` is the folder where the command was started. One in `env` takes precedence. */
export async function readApiKey(
  env: Environment,
  cwd: string,
  names: readonly string[],
): Promise<ApiKeyRead> {
  const notes: Warning[] = [];
  for (const name of names) {
    const read = env[name]?.trim() ? checked(env[name], name, 'the environment') : await keyInFile(cwd, name);
    notes.push(...read.notes);
    if (read.key !== null) return { key: read.key, notes };
  }
  return { key: null, notes };
}

async function keyInFile(cwd: string, name: string): Promise<ApiKeyRead> {
  const path = join(cwd, '.env');
  const read = await readBytes(path, { maxBytes: MAX_DOTENV_BYTES });
  if (read.status === 'failed')
    return read.missing ? { key: null, notes: [] } : unused(`${path} ${read.why} and is not used.`);
  const text = textOf(read.bytes);
  if (text === null) return unused(`${path} is not UTF-8 text and is not used.`);
  const value = parseEnv(text)[name]?.trim();
  if (!value) return { key: null, notes: [] };
  const isTracked = await gitTracks(cwd);
  if (isTracked === null)
    return unused(`git could not say whether it tracks ${path}, so its ${name} is not used.`);
  return isTracked
    ? unused(`${path} is tracked by git, so its ${name} is not used: it may come from someone else.`)
    : checked(value, name, path);
}

/** A key travels in an HTTP header, which only allows visible ASCII. */
function checked(value: string, name: string, place: string): ApiKeyRead {
  const key = value.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return { key, notes: [] };
  return unused(
    `The ${name} in ${place} is not used: it contains blanks or characters that a key cannot have.`,
  );
}

function unused(why: string): ApiKeyRead {
  return { key: null, notes: [warning('WARN_KEY_NOT_USED', why)] };
}

/** Null where git cannot say it. Outside a repository, no one else can have supplied the file. */
async function gitTracks(folder: string): Promise<boolean | null> {
  const root = await repositoryRoot(folder);
  if (root === null) return false;
  // Case-insensitive: on some file systems `.ENV` is the same file.
  const path = join(relative(root, realpathSync(folder)), '.env');
  const paths = await trackedPaths(root, [`:(icase,literal)${path}`]);
  return paths && paths.length > 0;
}
