/** The MCP servers of the setting `mcp`: a mapping in a project file, or `NAME=COMMAND` and `NAME=URL` in a flag or a variable. */

import { type Problem, problem } from '../domain/errors/problem.ts';
import { ServerEntries, whyNotInProjectFile } from '../domain/mcp/server-spec.ts';
import type { Settings } from './schema.ts';

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
