/** The file of --mcp-config: JSON or YAML with `mcpServers`, as other clients have it. */

import { resolve } from 'node:path';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { ServerEntries, whyNotInProjectFile } from '../domain/mcp/server-spec.ts';
import { jsonOrUndefined } from '../domain/text/json.ts';
import { pathWithin, realpathExisting } from '../files/path-within.ts';
import { textOf } from '../files/regular-file.ts';
import { readCommitted, readNamedFile } from '../git/checkout-layout.ts';
import type { Revision } from '../ports/workspace.ts';
import type { Settings } from './schema.ts';

const MAX_BYTES = 1024 * 1024;

/** The place of the file, and what is trusted. */
export interface ServerFilePlace {
  /** Relative to `cwd`. */
  readonly path: string;
  readonly cwd: string;
  /** Root of the repository, or null. */
  readonly root: string | null;
  /** Where files of the repository are read from; null for the work tree. */
  readonly revision: Revision | null;
  /** A run has worked in the repository, so its files may be the model's. Default: false. */
  readonly isWorkedIn?: boolean;
}

/** The servers of the file, or what is wrong with it. `inside` is its path in the work tree that it was read from; null elsewhere. */
export async function readServerFile({
  path,
  cwd,
  root,
  revision,
  isWorkedIn = false,
}: ServerFilePlace): Promise<
  { status: 'ok'; servers: ServerEntries; inside: string | null } | { status: 'failed'; problems: Problem[] }
> {
  const failed = (...problems: string[]) =>
    ({
      status: 'failed',
      problems: problems.map((one) => problem('ERR_MCP_FILE', `--mcp-config ${path}: ${one}`)),
    }) as const;
  const place = resolve(cwd, path);
  const inside =
    root === null
      ? null
      : ((await pathWithin(root, place)) ?? (await pathWithin(root, await realpathExisting(place))));
  if (isWorkedIn && revision === null && inside !== null)
    return failed('is in the work tree, where the run may have changed it: name a copy elsewhere');
  const read =
    revision !== null && inside !== null
      ? await readCommitted(revision, inside, MAX_BYTES)
      : await readNamedFile(place, { maxBytes: MAX_BYTES });
  if (read.status === 'failed') return failed(read.why);
  const text = textOf(read.bytes);
  if (text === null) return failed('is not UTF-8 text');
  const json = jsonOrUndefined(text);
  const parsed = isMapping(json)
    ? { status: 'ok' as const, values: json }
    : (await import('./yaml.ts')).parseYamlMapping(text, 1);
  if (parsed.status === 'failed')
    return failed(...parsed.problems.map(({ line, message }) => `line ${line}: ${message}`));
  const written = parsed.values.mcpServers ?? parsed.values.mcp;
  if (written === undefined) return failed('has no mcpServers');
  const { data, error } = ServerEntries.safeParse(written);
  if (data !== undefined) return { status: 'ok', servers: data, inside: revision === null ? inside : null };
  return failed(...error.issues.map(({ path: at, message }) => `${at.join('.')}: ${message}`));
}

function isMapping(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** The servers, or the problems with them. */
export type ServersRead =
  | { status: 'ok'; servers: ServerEntries }
  | { status: 'failed'; problems: Problem[] };

/** `from` says where the setting was given. Entries that a project file may not contain are refused if they come from one. */
export function serversIn(given: Settings['mcp'], from: { from: string; name: string }): ServersRead {
  const failed = (problems: readonly string[]): ServersRead => ({
    status: 'failed',
    problems: problems.map((one) => problem('ERR_MCP_SETTINGS', `${from.name}: ${one}`)),
  });
  const written = isList(given) ? fromTexts(given) : given;
  if (written === null) return failed(['expected NAME=COMMAND or NAME=URL, each name once']);
  const { data, error } = ServerEntries.safeParse(written);
  if (data === undefined)
    return failed(error.issues.map(({ path, message }) => [...path.slice(0, 2), message].join(': ')));
  const refused = Object.entries(data).flatMap(([name, server]) => {
    const why = from.from === 'file' ? whyNotInProjectFile(server) : null;
    return why === null ? [] : [`mcp.${name}: a project file ${why}; use --mcp-config`];
  });
  return refused.length > 0 ? failed(refused) : { status: 'ok', servers: data };
}

function isList(given: Settings['mcp']): given is readonly string[] {
  return Array.isArray(given);
}

/** Null if one of them is not such a text, or if two have the same name. */
function fromTexts(texts: readonly string[]): Record<string, unknown> | null {
  const servers = texts.map((text) => {
    const [, name = '', rest = ''] = /^\s*([^\s=]+)=(.*)$/s.exec(text) ?? [];
    const [command, ...args] = wordsOf(rest);
    const isUrl = /^https?:\/\//.test(rest.trim());
    return { name, entry: isUrl ? { url: rest.trim() } : { command, args } };
  });
  const names = new Set(servers.map(({ name }) => name));
  const isWhole = servers.every(({ entry }) => 'url' in entry || entry.command !== undefined);
  if (!isWhole || names.size < servers.length) return null;
  return Object.fromEntries(servers.map(({ name, entry }) => [name, entry]));
}

/** The words of a command line; quotes keep words together, and nothing else has a meaning. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ''),
  );
}
