/**
 * Regular expression search in given files of the work tree, using ripgrep.
 *
 * ripgrep never opens a path of the tree. It inherits descriptors of the files, each of which was opened here one path
 * component at a time, so a folder that is replaced by a link in the meantime cannot mislead it.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { startOfText } from '../../../files/regular-file.ts';
import { invisible } from '../../../files/stat.ts';
import { timeoutSignal } from '../../../files/time-limit.ts';
import { O_PATH, TreeView } from '../../../files/tree-view.ts';
import type { SearchMatch, SearchQuery, SearchResult } from '../../../ports/workspace.ts';
import { FIRST_DESCRIPTOR, readMatches } from './ripgrep-output.ts';

/** Maximum number of files per ripgrep: each takes an open descriptor while it is being started. */
const MAX_BATCH = 2_048;
/** Larger files are left out: ripgrep holds a whole line in memory, and a hostile file may be a single line. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_PATTERN_CHARS = 10_000;
const MAX_COMPLAINT_BYTES = 8_000;
const TIMEOUT_MS = 30_000;

/**
 * Searches `paths` (relative to `root`, as returned by `listFiles`) in order and stops after `maxMatches` lines, which is
 * also the most it keeps in memory. Links, special files, binary files and files over 16 MiB are left out. An invalid
 * pattern is a failure that explains it.
 */
export async function searchFiles(
  root: string,
  paths: readonly string[],
  query: SearchQuery,
): Promise<SearchResult> {
  const { pattern } = query;
  if (pattern.includes('\0') || pattern.length > MAX_PATTERN_CHARS) {
    return failedSearch(
      'invalid_input',
      `The pattern holds a NUL or more than ${MAX_PATTERN_CHARS} characters.`,
    );
  }
  // Loaded only when needed: it looks for its binary as soon as it is imported.
  const { rgPath } = await import('@vscode/ripgrep');
  const timeout = timeoutSignal(TIMEOUT_MS);
  const signal = AbortSignal.any([query.signal, timeout]);
  const matches: SearchMatch[] = [];
  const queue = sorted(paths);
  // Runs at least once, so that an invalid pattern is reported even if there is nothing to search.
  do {
    const max = query.maxMatches + 1 - matches.length;
    const found = await matchesOf(startRipgrep(rgPath, { root, queue, pattern, max }), max, signal);
    if (query.signal.aborted) return failedSearch('interrupted', 'The search was interrupted.');
    if (timeout.aborted) {
      const seconds = TIMEOUT_MS / 1000;
      return failedSearch('timeout', `The search took more than ${seconds} s: narrow it with path or glob.`);
    }
    if (found.status === 'failed') return found;
    matches.push(...found.matches);
    if (matches.length > query.maxMatches) {
      return { status: 'ok', matches: matches.slice(0, query.maxMatches), more: true };
    }
  } while (queue.length > 0);
  return { status: 'ok', matches, more: false };
}

function failedSearch(
  reason: Extract<SearchResult, { status: 'failed' }>['reason'],
  message: string,
): SearchResult {
  return { status: 'failed', reason, message };
}

/** In reverse, so that the next one can be popped cheaply. */
function sorted(paths: readonly string[]): string[] {
  return [...paths].sort((a, b) => (a < b ? 1 : -1));
}

interface RipgrepStart {
  readonly root: string;
  /** Files yet to be searched, in reverse; the ones this ripgrep takes are removed. */
  readonly queue: string[];
  readonly pattern: string;
  /** Maximum lines per file, after which ripgrep continues with the next. */
  readonly max: number;
}

/** A running ripgrep over `files`, which are its descriptors from the first on. */
interface RunningRipgrep {
  readonly child: ChildProcess;
  readonly files: readonly string[];
}

/** No descriptor stays open here: when `spawn` returns, the child has its own. */
function startRipgrep(rgPath: string, { root, queue, pattern, max }: RipgrepStart): RunningRipgrep {
  const held = new Map<string, number>();
  const view = new TreeView(root);
  try {
    const most = Math.min(MAX_BATCH, Math.floor(openFilesLimit() / 4));
    for (let path = queue.pop(); path !== undefined; path = held.size < most ? queue.pop() : undefined) {
      const descriptor = openSearchable(view, path);
      if (descriptor !== null) held.set(path, descriptor);
    }
    // The null device prevents an empty list from meaning the whole folder.
    const targets = [...held].map((_, at) => `./${FIRST_DESCRIPTOR + at}`);
    const args = [`--max-count=${max}`, `--regexp=${pattern}`, '--', ...targets, '/dev/null'];
    const child = spawn(rgPath, [...FLAGS, ...args], {
      // The child's own: the names there are its descriptor numbers.
      cwd: '/proc/self/fd',
      env: {},
      stdio: ['ignore', 'pipe', 'pipe', ...held.values()],
    });
    return { child, files: [...held.keys()] };
  } finally {
    view.close();
    for (const descriptor of held.values()) closeSync(descriptor);
  }
}

/** A descriptor of the file itself, if it is a regular file; null for anything else. */
function openSearchable(view: TreeView, path: string): number | null {
  try {
    const descriptor = openSync(view.place(path), O_PATH | constants.O_NOFOLLOW);
    const stat = fstatSync(descriptor);
    if (stat.isFile() && stat.size <= MAX_FILE_BYTES) return descriptor;
    closeSync(descriptor);
  } catch (error) {
    invisible(error);
  }
  return null;
}

function openFilesLimit(): number {
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return limit === undefined ? MAX_BATCH * 4 : Number(limit);
}

/** Single-threaded, so that files are searched in order and the same search always returns the same lines. */
const FLAGS = [
  ...'--no-config --no-ignore --no-messages --threads=1 --color=never --no-heading'.split(' '),
  ...'--with-filename --line-number --null --crlf --no-mmap --max-columns=2000 --max-columns-preview'.split(
    ' ',
  ),
];

async function matchesOf(
  { child, files }: RunningRipgrep,
  max: number,
  signal: AbortSignal,
): Promise<SearchResult> {
  const kill = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  try {
    const reading = readMatches((child.stdout ?? []) as AsyncIterable<Buffer>, files, max);
    // Nothing more is read once there are enough lines.
    reading.then(({ full }) => full && kill(), kill);
    const [{ matches, full }, complaint] = await Promise.all([
      reading,
      startOfText(child.stderr, MAX_COMPLAINT_BYTES),
      once(child, 'close'),
    ]);
    if (child.exitCode === 2 && complaint.trim() !== '')
      return failedSearch('invalid_input', notValid(complaint));
    if (child.exitCode === null && !full && !signal.aborted)
      throw new Error(`ripgrep was killed with ${child.signalCode}`);
    return { status: 'ok', matches, more: full };
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

function notValid(complaint: string): string {
  return `The pattern is not valid: ${complaint.trim().replace(/^rg: /, '').slice(0, 2_000)}`;
}
