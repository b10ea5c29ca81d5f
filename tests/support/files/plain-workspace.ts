/** A small real workspace in a temporary folder, without git: guarded files, a plain walk, ripgrep. For tests of tools. */

import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { enforcedLimits } from '../../../src/adapters/sandboxes/command/limits.ts';
import { searchFiles } from '../../../src/adapters/workspace/search/search.ts';
import { cutTo, excerptLength } from '../../../src/domain/conversation/excerpt.ts';
import { SeenLines } from '../../../src/domain/conversation/seen-files.ts';
import { readFile, writeFile } from '../../../src/files/nofollow-files.ts';
import type { Workspace } from '../../../src/ports/workspace.ts';
import type { CommandResult, SandboxCommand, Tool, ToolContext, ToolResult } from '../../../src/ports.ts';

export interface PlainWorkspace {
  readonly root: string;
  readonly seen: SeenLines;
  readonly context: ToolContext;
  /** Commands that the tools have run. */
  readonly commands: SandboxCommand[];
  /** Puts a file there, behind the tools' back. */
  put(path: string, content: string | Uint8Array): void;
  /** Parses the input as the executor does, runs the tool, and cuts what it says to `limit` characters. */
  call(tool: Tool, input: unknown, limit?: number): Promise<CallResult>;
  remove(): void;
}

interface CallResult {
  readonly status: ToolResult['status'];
  readonly reason?: string;
  /** What the model is shown. */
  readonly text: string;
  /** The literal next call, when something was cut out. */
  readonly next?: string;
}

export interface PlainSettings {
  readonly command?: (command: SandboxCommand) => CommandResult;
  readonly ignored?: (path: string) => boolean;
  /** Larger files are refused. */
  readonly maxBytes?: number;
}

export function plainWorkspace(settings: PlainSettings = {}): PlainWorkspace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'patchsmith-tools-')));
  const seen = new SeenLines();
  const commands: SandboxCommand[] = [];
  const unused = () => {
    throw new Error('No tool calls this.');
  };
  const context: ToolContext = {
    workspace: fileMethods(root, settings),
    sandbox: {
      level: 'none',
      limits: enforcedLimits(undefined, false),
      async run(command) {
        commands.push(command);
        return settings.command ? settings.command(command) : unused();
      },
      async close() {},
    },
    seen: seen.forCall('call'),
    signal: new AbortController().signal,
  };
  return {
    root,
    seen,
    context,
    commands,
    put(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    async call(tool, input, limit = 40_000) {
      return shownTo(await tool.execute(tool.schema.parse(input), context), limit);
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function shownTo(result: ToolResult, limit: number): CallResult {
  if (result.status === 'finished') return { status: result.status, text: result.summary };
  const shown = cutTo(result.output, limit);
  if (result.status === 'ok') result.shown?.(shown);
  const next = shown.omitted > 0 ? result.next?.(shown.head, shown.omitted, shown.tail) : undefined;
  return {
    status: result.status,
    ...(result.status === 'failed' && { reason: result.reason }),
    text:
      shown.omitted > 0
        ? `${shown.head}[${shown.omitted} of ${excerptLength(shown)}]${shown.tail}`
        : shown.head,
    ...(next !== undefined && { next }),
  };
}

function fileMethods(root: string, { ignored, maxBytes = 1_000_000 }: PlainSettings): Workspace {
  const pathsBelow = (path: string) =>
    readdirSync(join(root, path), { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
      .sort();
  const only = {
    async readFile(path) {
      const read = readFile(root, path, maxBytes);
      if (read.status === 'failed') return read;
      return { status: 'ok', bytes: read.bytes, text: textOf(read.bytes), blob: blobOf(read.bytes) };
    },
    async writeFile(path, bytes) {
      const write = writeFile(root, path, bytes);
      if (write.status === 'failed') return write;
      const isIgnored = ignored?.(path) ?? false;
      return { status: 'ok', created: write.created, blob: blobOf(bytes), ignored: isIgnored, unseen: null };
    },
    async listFiles(path) {
      return { status: 'ok', paths: pathsBelow(path) };
    },
    search: (query) => searchFiles(root, pathsBelow(query.path), query),
  } satisfies Partial<Workspace>;
  return only as Partial<Workspace> as Workspace;
}

function textOf(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes).toString('utf8');
  return Buffer.from(text).equals(bytes) && !text.includes('\0') ? text : null;
}

function blobOf(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
