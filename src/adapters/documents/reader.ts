/** Reads documents and HTML pages, each in a separate process. */

import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { timeoutSignal } from '../../files/time-limit.ts';
import type { DocumentRead, DocumentReader } from '../../ports.ts';
import { isPdf } from './kinds.ts';

/** Node 24 reserves 512 MiB for compiled code, and does not start with less. */
const MEMORY_KIB = 768 * 1024;
const BOUNDS: ProcessBounds = { timeoutMs: 30_000, memoryKib: MEMORY_KIB };
/** A page of two megabytes takes a second or two, unless it was made to take forever. */
const HTML_BOUNDS: ProcessBounds = { timeoutMs: 10_000, memoryKib: MEMORY_KIB };
/** Longer lines are wrapped, so that each can be shown. */
const MAX_LINE = 1_000;

/** `program` is the built file of program.ts. */
export function documentReader({
  program = PROGRAM,
  ...given
}: Partial<ProcessBounds & { program: string }> = {}): DocumentReader {
  const bounds = { ...BOUNDS, ...given };
  return {
    kindOf: (bytes) => (isPdf(bytes) ? 'a PDF document' : null),
    read: async (bytes, signal) =>
      documentOf(await readApart({ program, bytes }, { ...bounds, signal }), bounds),
  };
}

/** Converts HTML to Markdown; null for a page that takes too much. Rejects when the signal aborts. */
export function htmlReader({
  program = PROGRAM,
  ...given
}: Partial<ProcessBounds & { program: string }> = {}) {
  return async (html: string, signal: AbortSignal): Promise<string | null> => {
    const bounds = { ...HTML_BOUNDS, ...given, signal };
    const read = await readApart({ program, bytes: Buffer.from(html) }, bounds);
    signal.throwIfAborted();
    return read.status === 'ok' ? read.text : null;
  };
}

function documentOf(read: ProcessRead, { timeoutMs }: ProcessBounds): DocumentRead {
  switch (read.status) {
    case 'ok':
      return { status: 'ok', text: readable(read.text) };
    case 'interrupted':
      return { status: 'failed', reason: 'interrupted', why: 'the run was stopped' };
    case 'timeout': {
      const why = `it took more than ${Math.ceil(timeoutMs / 1_000)} s`;
      return { status: 'failed', reason: 'timeout', why };
    }
    case 'failed':
      return read.why === null
        ? { status: 'failed', reason: 'too_large', why: 'it takes more memory or time than a document may' }
        : { status: 'failed', reason: 'not_text', why: oneLine(read.why, 300) };
  }
}

/** Removes characters that are not text, and wraps lines so that they can be shown. */
function readable(text: string): string {
  return Buffer.from(text, 'utf8')
    .toString('utf8')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
    .split('\n')
    .map(folded)
    .join('\n');
}

/** Wraps at spaces, or mid-word if there are none. */
function folded(line: string): string {
  return line.length <= MAX_LINE ? line : (line.match(FOLDS) ?? []).join('\n');
}

const FOLDS = new RegExp(`.{1,${MAX_LINE}}(?: |$)|.{1,${MAX_LINE}}`, 'gsu');

/** Limits for one process. */
interface ProcessBounds {
  readonly timeoutMs: number;
  /** Memory that it may write to, in KiB: unpacked data is not on the JavaScript heap. */
  readonly memoryKib: number;
}

const HEAP_MIB = 256;
/** Maximum bytes of an answer. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** A file of the build, next to those that load it. */
const PROGRAM = fileURLToPath(new URL('./documents.js', import.meta.url));

/** The program's answer. */
const ProgramAnswer = z.union([z.strictObject({ text: z.string() }), z.strictObject({ why: z.string() })]);

/** A text, or why there is none: `why` comes from the program; null if it exceeded its memory or processor time. */
type ProcessRead =
  | { status: 'ok'; text: string }
  | { status: 'interrupted' }
  | { status: 'timeout' }
  | { status: 'failed'; why: string | null };

/** What to read. */
interface DocumentToRead {
  /** The built file of program.ts. */
  readonly program: string;
  readonly bytes: Uint8Array;
}

/** Maximum processes at a time: a model can request more than fit into memory. */
const AT_ONCE = 2;
const underWay = new Set<Promise<unknown>>();

/** Reads the bytes when it is their turn; the time limit counts from then. */
async function readApart(
  reading: DocumentToRead,
  bounds: ProcessBounds & { signal: AbortSignal },
): Promise<ProcessRead> {
  while (underWay.size >= AT_ONCE) await Promise.race(underWay);
  if (bounds.signal.aborted) return { status: 'interrupted' };
  const read = readNow(reading, bounds);
  underWay.add(read);
  return read.finally(() => underWay.delete(read));
}

async function readNow(
  { program, bytes }: DocumentToRead,
  { timeoutMs, memoryKib, signal }: ProcessBounds & { signal: AbortSignal },
): Promise<ProcessRead> {
  const timeout = timeoutSignal(timeoutMs);
  const limits = `ulimit -c 0; ulimit -d ${memoryKib}; ulimit -t ${Math.ceil(timeoutMs / 1_000)}; exec "$@"`;
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const node = [
    process.execPath,
    '--no-warnings',
    `--max-old-space-size=${HEAP_MIB}`,
    permission,
    `--allow-fs-read=${program}`,
    program,
  ];
  // Few runs read a document.
  const { execa } = await import('execa');
  const ended = await execa('/bin/sh', ['-c', limits, 'sh', ...node], {
    env: {},
    extendEnv: false,
    cwd: '/',
    input: bytes,
    stderr: 'ignore',
    maxBuffer: MAX_ANSWER_BYTES,
    encoding: 'buffer',
    cancelSignal: AbortSignal.any([signal, timeout]),
    killSignal: 'SIGKILL',
    reject: false,
  });
  if (signal.aborted) return { status: 'interrupted' };
  if (timeout.aborted) return { status: 'timeout' };
  const isWhole = ended.exitCode !== undefined && !ended.isMaxBuffer;
  const said = isWhole ? jsonOrUndefined(Buffer.from(ended.stdout).toString('utf8')) : undefined;
  const answer = ProgramAnswer.safeParse(said);
  if (!answer.success) return { status: 'failed', why: null };
  return 'why' in answer.data
    ? { status: 'failed', why: answer.data.why }
    : { status: 'ok', text: answer.data.text };
}
