/** What tools on files share. Their paths are relative to the working directory, those of workspace and records to the root. */

import * as z from 'zod';
import {
  foldersAround,
  type PathVerdict,
  parseRepoPath,
  pathFrom,
  type RepoPath,
} from '../domain/changes/path.ts';
import { formatNumber } from '../domain/text/words.ts';
import type { FileWrite } from '../ports/workspace.ts';
import type { Tool, ToolContext, ToolResult } from '../ports.ts';
import { failedCall, said } from './result.ts';

interface PathInput {
  /** Default: the working directory. */
  readonly path?: string | undefined;
}

/** A tool whose path is checked before it is executed, and that knows no other paths than those from the working directory. */
interface FileToolParts<Input> extends Omit<Tool<Input>, 'execute' | 'target'> {
  execute(input: Input & { readonly path: RepoPath }, context: ToolContext): Promise<ToolResult>;
}

/** The tool for a run in the root, and for one in another folder. */
export type FileTool<Input> = Tool<Input> & { in(folder: string): Tool<Input> };

/** Makes a tool on files. */
export function fileTool<Input extends PathInput>(parts: FileToolParts<Input>): FileTool<Input> {
  return { ...inFolder(parts, ''), in: (folder) => inFolder(parts, folder) };
}

function inFolder<Input extends PathInput>(parts: FileToolParts<Input>, folder: string): Tool<Input> {
  const parsed = ({ path = '' }: Input): PathVerdict => parseRepoPath(path, folder);
  return {
    ...parts,
    ...(parts.lane === 'write' && {
      target(input: Input) {
        const at = parsed(input);
        return at.ok ? at.path : null;
      },
    }),
    async execute(input, context) {
      const at = parsed(input);
      if (!at.ok) return failedCall('path_refused', at.message);
      const path = pathFrom(folder, at.path) as RepoPath;
      return parts.execute({ ...input, path }, folder === '' ? context : seenFrom(folder, context));
    },
  };
}

/** The same context, with paths relative to `folder`. */
function seenFrom(folder: string, context: ToolContext): ToolContext {
  const { workspace, seen } = context;
  const rooted = (path: string) => {
    const parsed = parseRepoPath(path, folder);
    if (!parsed.ok) throw new Error(parsed.message);
    return parsed.path;
  };
  /** Entries of a folder continue the path by which it was named. */
  const within = (asked: string, path: string) => {
    const at = rooted(asked);
    const rest = at === '' ? path : path.slice(at.length + 1);
    return [asked, rest].filter((part) => part !== '').join('/');
  };
  /** The first names in the message of a failure are the path, and a folder on its way. */
  const named = <Result extends { status: string }>(asked: string, result: Result): Result => {
    if (!('message' in result) || typeof result.message !== 'string') return result;
    const at = rooted(asked);
    const ways = new Set([at, ...foldersAround(at)].map((path) => JSON.stringify(path)));
    let left = 2;
    const message = result.message.replace(/"(?:[^"\\]|\\.){0,4096}"/g, (quoted) =>
      left-- > 0 && ways.has(quoted) ? JSON.stringify(pathFrom(folder, JSON.parse(quoted)) || '.') : quoted,
    );
    return { ...result, message };
  };
  return {
    ...context,
    workspace: {
      ...workspace,
      readFile: async (path) => named(path, await workspace.readFile(rooted(path))),
      writeFile: async (path, bytes) => named(path, await workspace.writeFile(rooted(path), bytes)),
      async listFiles(path, glob) {
        const list = await workspace.listFiles(rooted(path), glob);
        if (list.status === 'failed') return named(path, list);
        return { ...list, paths: list.paths.map((one) => within(path, one)) };
      },
      async search(query) {
        const found = await workspace.search({ ...query, path: rooted(query.path) });
        if (found.status === 'failed') return found.reason === 'not_found' ? named(query.path, found) : found;
        const matches = found.matches.map((match) => ({ ...match, path: within(query.path, match.path) }));
        return { ...found, matches };
      },
    },
    seen: {
      saw: (path, ...more) => seen.saw(rooted(path), ...more),
      wrote: (path, blob) => seen.wrote(rooted(path), blob),
      edited: (path, versions) => seen.edited(rooted(path), versions),
      coverage: (path, blob) => seen.coverage(rooted(path), blob),
    },
  };
}

/** Maximum bytes of a file that one call writes: no tool could read a larger one, so it is left to commands. */
const MAX_WRITE_BYTES = 8 * 1024 * 1024;

/** Text that UTF-8 can represent: half a surrogate pair would silently become another character. */
export const WellFormedText = z.string().refine((text) => !/\p{Surrogate}/u.test(text), {
  error: 'holds half a surrogate pair, which is not valid Unicode',
});

/** Refuses more than one call may write; `what` is the subject of the sentence and its verb. */
export function tooLarge(what: string, bytes: number): ToolResult | null {
  if (bytes <= MAX_WRITE_BYTES) return null;
  const most = formatNumber(MAX_WRITE_BYTES);
  const message = `Not written: ${what} ${formatNumber(bytes)} bytes; one call writes at most ${most}.`;
  return failedCall('too_large', message);
}

/** Reports a write, and whether it can be in the patch at all. */
export function written(report: string, write: Extract<FileWrite, { status: 'ok' }>): ToolResult {
  return said(write.ignored ? `${report} Git ignores this path, so it will not be in the patch.` : report);
}
