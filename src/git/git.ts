/** Runs git plumbing in an environment of our own, which neither the user's settings nor a checkout's can influence. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { Environment } from '../domain/environment.ts';
import { CutShort } from '../domain/errors/thrown.ts';
import { hasCode, orNone } from '../files/failures.ts';
import { checkTime, timeLimit } from '../files/time-limit.ts';

/** One git call. Nothing from our own environment is inherited. */
export interface GitCall {
  /** Folder in which git runs; never the work tree, unless the call only asks where things are. */
  readonly cwd: string;
  readonly args: readonly string[];
  /** Added to the environment built from scratch; undefined removes a variable from it. */
  readonly env?: Environment;
  /** Bytes for stdin; if absent, stdin is closed. */
  readonly input?: Uint8Array;
  /** A descriptor for stdout, instead of `GitAnswer.stdout`. */
  readonly output?: number;
  /** Kills git when it aborts, in addition to the time limit of the work; the call then rejects. For calls over a network. */
  readonly signal?: AbortSignal;
}

/** `stderr` is trimmed. */
export interface GitAnswer {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/**
 * Runs git and resolves whatever its exit code. Rejects if git cannot be started, was killed, or prints more than a
 * gigabyte; with `CutShort`, after killing git, when the time for the work is over.
 */
export async function askGit(call: GitCall): Promise<GitAnswer> {
  checkTime();
  // The process that talks to the network is a child of git, and keeps its pipes open.
  const isGroup = call.signal !== undefined;
  const child = spawn('/bin/sh', ['-c', WITHIN_MEMORY, gitProgram(), ...QUIET, ...call.args], {
    cwd: call.cwd,
    env: { ...EMPTY_ENVIRONMENT, ...call.env },
    stdio: [call.input === undefined ? 'ignore' : 'pipe', call.output ?? 'pipe', 'pipe'],
    detached: isGroup,
  });
  const closed = once(child, 'close');
  feed(child.stdin, call.input);
  const kill = () => void (isGroup ? killGroup(child.pid) : child.kill('SIGKILL'));
  if (call.signal?.aborted) kill();
  call.signal?.addEventListener('abort', kill, { once: true });
  // A second signal ends the runner in the middle of anything.
  process.once('exit', kill);
  const ended = Promise.all([collect(child.stdout, kill), collect(child.stderr, kill), closed]);
  const [stdout, stderr] = await withinTime(ended, kill).finally(() => {
    call.signal?.removeEventListener('abort', kill);
    process.removeListener('exit', kill);
  });
  if (stdout === null || stderr === null)
    throw new Error(`git ${call.args.join(' ')} printed more than 1 GiB.`);
  if (child.exitCode === null) throw new Error(`git ${call.args.join(' ')}: killed by ${child.signalCode}`);
  const said = stderr.toString('utf8').trim();
  const isOut = child.exitCode !== 0 && OUT_OF_MEMORY.test(said);
  return { exitCode: child.exitCode, stdout, stderr: isOut ? `${said} ${MEMORY_LIMIT}` : said };
}

/**
 * Maximum memory that one git process may allocate, in KiB. Files it maps, such as packs and indexes, do not count: the
 * kernel can take that memory back. 1 GiB suffices for a million files, and for comparing two contents of 100 MB as binary.
 */
const MAX_DATA_KIB = 2 ** 20;

/** The shell that sets the limit becomes git, with the same process id. A lower existing limit is kept. */
const WITHIN_MEMORY = `ulimit -d ${MAX_DATA_KIB} 2>/dev/null; exec "$0" "$@"`;

/** Ends the message of a git that failed because of this limit. */
const MEMORY_LIMIT = '(git may allocate 1 GiB)';

const OUT_OF_MEMORY = /out of memory|cannot allocate memory|(?:malloc|calloc|realloc|mmap) failed/i;

/** How long to wait for a git that was killed: one that hangs in the kernel may never end. */
const KILLED_MS = 250;

/** The result of git. When the time is over git is killed, and the promise rejects with `CutShort`. */
async function withinTime<T>(ended: Promise<T>, kill: () => void): Promise<T> {
  const limit = timeLimit();
  if (limit === null) return ended;
  let isOver = (): void => undefined;
  let late: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    isOver = () => {
      kill();
      late = setTimeout(() => reject(new CutShort()), KILLED_MS);
    };
  });
  limit.addEventListener('abort', isOver, { once: true });
  try {
    return await Promise.race([ended, over]);
  } finally {
    clearTimeout(late);
    limit.removeEventListener('abort', isOver);
    checkTime();
  }
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

/** Runs git for its output. Throws if it fails: for calls that can only fail on a broken machine. */
export async function runGit(call: GitCall): Promise<Buffer> {
  const answer = await askGit(call);
  if (answer.exitCode !== 0) {
    throw new Error(`git ${call.args.join(' ')} failed (${answer.exitCode}): ${answer.stderr}`);
  }
  return answer.stdout;
}

type More = Omit<GitCall, 'cwd' | 'args'>;

/** `askGit` about a git dir alone. */
export function askIn(gitDir: string, args: readonly string[], more: More = {}): Promise<GitAnswer> {
  return askGit({ cwd: gitDir, args: [`--git-dir=${gitDir}`, ...args], ...more });
}

/** `runGit` about a git dir alone. */
export function runIn(gitDir: string, args: readonly string[], more: More = {}): Promise<Buffer> {
  return runGit({ cwd: gitDir, args: [`--git-dir=${gitDir}`, ...args], ...more });
}

/** Absolute path of git, searched for in fixed folders only; null if it is in none of them. */
export function findGit(): string | null {
  const programs = PROGRAM_FOLDERS.map((folder) => `${folder}/git`);
  return programs.find((path) => orNone(() => accessSync(path, constants.X_OK)) !== null) ?? null;
}

/** Where the runner's programs may come from, in this order. */
export const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/opt/homebrew/bin'] as const;

/** Given on the command line, which overrides every configuration file. */
const QUIET = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  // Part of a split index would be written where no run directory may have one, and again with each index.
  'core.splitIndex=false',
  // How much of its packs git maps at once, which most tools count as its memory.
  'core.packedGitWindowSize=32m',
  'core.packedGitLimit=256m',
].flatMap((setting) => ['-c', setting]);

const EMPTY_ENVIRONMENT = {
  PATH: PROGRAM_FOLDERS.join(':'),
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  SSH_ASKPASS: '/bin/false',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  // An older git does not know that setting, and would ask whatever server the repository names for a missing object.
  GIT_ALLOW_PROTOCOL: '',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_ADVICE: '0',
};

/** Who makes commits of our own. */
export const OWN_IDENTITY = {
  GIT_AUTHOR_NAME: 'patchsmith',
  GIT_AUTHOR_EMAIL: 'patchsmith@localhost',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'patchsmith',
  GIT_COMMITTER_EMAIL: 'patchsmith@localhost',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

/** Enough for the index of several million files; more is a bug, not a repository. */
const MAX_OUTPUT_BYTES = 2 ** 30;

function feed(stdin: Writable | null, input: Uint8Array | undefined): void {
  // Git may exit before it has read everything; its exit code then tells why.
  stdin?.on('error', () => {});
  stdin?.end(input);
}

/** All bytes of a stream; if there are too many, calls `full` and returns null. */
async function collect(stream: Readable | null, full: () => void): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of (stream ?? []) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_OUTPUT_BYTES) chunks.push(chunk);
    else full();
  }
  return length > MAX_OUTPUT_BYTES ? null : Buffer.concat(chunks);
}

function gitProgram(): string {
  const program = findGit();
  if (program === null) throw new Error(`git is in none of ${PROGRAM_FOLDERS.join(', ')}`);
  return program;
}
