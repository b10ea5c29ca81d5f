/** Regular expression search in given files of the work tree, by ripgrep. */

import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { SearchMatch, SearchQuery, SearchResult } from '../../ports.ts';
import { encodeName } from './names.ts';
import { readMatches } from './ripgrep-output.ts';

/** Bytes of file names in one argument list: well below the least that Linux grants (128 KiB). */
const BATCH_BYTES = 100_000;
/**
 * Files over this size are left out: ripgrep holds a whole line in memory, and hostile files are one line. They are data
 * or generated, hardly source.
 */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_PATTERN_CHARS = 10_000;
const TIMEOUT_MS = 30_000;

/**
 * Searches `paths` (relative to `root`, as `listFiles` gives them) in their order and stops after `maxMatches` lines.
 * Links, special files, binary files, files over 16 MiB and names that are not UTF-8 (which no argument of a process can
 * carry here) are left out. Never more than `maxMatches` lines are kept. An invalid pattern is a failure that explains it.
 */
export async function searchFiles(
  root: string,
  paths: readonly string[],
  query: SearchQuery,
): Promise<SearchResult> {
  const { pattern } = query;
  if (pattern.includes('\0') || pattern.length > MAX_PATTERN_CHARS) {
    return failed('invalid_input', `The pattern holds a NUL or more than ${MAX_PATTERN_CHARS} characters.`);
  }
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = AbortSignal.any([query.signal, timeout]);
  const matches: SearchMatch[] = [];
  // At least one run, so that an invalid pattern is told even where there is nothing to search.
  for (const batch of batchesOf(root, sorted(paths))) {
    const found = await runRipgrep({
      root,
      files: batch,
      pattern,
      signal,
      max: query.maxMatches + 1 - matches.length,
    });
    if (query.signal.aborted) return failed('interrupted', 'The search was interrupted.');
    if (timeout.aborted) {
      return failed(
        'timeout',
        `The search took more than ${TIMEOUT_MS / 1000} s: narrow it with path or glob.`,
      );
    }
    if (found.status === 'failed') return found;
    matches.push(...found.matches.filter((match) => isStillInside(root, match.path)));
    if (matches.length > query.maxMatches) {
      return { status: 'ok', matches: matches.slice(0, query.maxMatches), more: true };
    }
  }
  return { status: 'ok', matches, more: false };
}

function failed(
  reason: Extract<SearchResult, { status: 'failed' }>['reason'],
  message: string,
): SearchResult {
  return { status: 'failed', reason, message };
}

function sorted(paths: readonly string[]): string[] {
  return [...paths].sort((a, b) => (a < b ? -1 : 1));
}

/** Searchable files in argument lists. Each list is looked at just before it is searched. */
function* batchesOf(root: string, paths: readonly string[]): Generator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const path of paths) {
    if (!isSearchable(root, path)) continue;
    batch.push(path);
    bytes += Buffer.byteLength(path) + 3;
    if (bytes < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  yield batch;
}

/** ripgrep follows a link that it is given by name, so links never reach it. */
function isSearchable(root: string, path: string): boolean {
  if (!encodeName(path).equals(Buffer.from(path))) return false;
  const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size <= MAX_FILE_BYTES;
}

/** A second look after the fact: a file that a link has meanwhile moved elsewhere shows nothing. */
function isStillInside(root: string, path: string): boolean {
  try {
    return realpathSync(join(root, path)) === join(root, path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

interface RipgrepRun {
  readonly root: string;
  readonly files: readonly string[];
  readonly pattern: string;
  readonly signal: AbortSignal;
  readonly max: number;
}

async function runRipgrep({ root, files, pattern, signal, max }: RipgrepRun): Promise<SearchResult> {
  // Loaded only when something is searched: the one looks for its binary as soon as it is imported, the other is large.
  const [{ rgPath }, { execa }] = await Promise.all([import('@vscode/ripgrep'), import('execa')]);
  const child = execa(
    rgPath,
    [...FLAGS, `--max-count=${max}`, `--regexp=${pattern}`, '--', ...targets(files)],
    {
      cwd: root,
      env: {},
      extendEnv: false,
      stdin: 'ignore',
      buffer: { stdout: false, stderr: true },
      maxBuffer: 100_000,
      cancelSignal: signal,
      killSignal: 'SIGKILL',
      reject: false,
    },
  );
  const { matches, full } = await readMatches(child.stdout, max);
  if (full) child.kill('SIGKILL');
  const end = await child;
  if (!full && !signal.aborted && end.exitCode === undefined)
    throw new Error(`ripgrep failed: ${end.shortMessage}`);
  if (end.exitCode === 2 && end.stderr.trim() !== '') return failed('invalid_input', complaint(end.stderr));
  return { status: 'ok', matches, more: full };
}

/** One thread, so that files come in their order and the same search always gives the same lines. */
const FLAGS = [
  '--no-config',
  '--no-messages',
  '--threads=1',
  '--color=never',
  '--no-heading',
  '--with-filename',
  '--line-number',
  '--null',
  '--crlf',
  '--no-mmap',
  '--max-columns=2000',
  '--max-columns-preview',
];

/** `./` keeps a file called `-` from being stdin. The null device keeps an empty list from being the whole folder. */
function targets(files: readonly string[]): string[] {
  return files.length === 0 ? ['/dev/null'] : files.map((file) => `./${file}`);
}

function complaint(stderr: string): string {
  return `The pattern is not valid: ${stderr.trim().replace(/^rg: /, '').slice(0, 2_000)}`;
}
