/** Reads documents and HTML pages, each in a separate process. */

import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { timeoutSignal } from '../../files/time-limit.ts';
import type { DocumentRead, DocumentReader } from '../../ports.ts';
import { isPdf } from './kinds.ts';

/** Limits for one process, and what it runs. */
interface ProcessBounds {
  readonly timeoutMs: number;
  /** Memory that it may write to, in KiB: unpacked data is not on the JavaScript heap. */
  readonly memoryKib: number;
  readonly program: string;
}

const BOUNDS: ProcessBounds = {
  timeoutMs: 30_000,
  // Node 24 reserves 512 MiB for compiled code, and does not start with less.
  memoryKib: 768 * 1024,
  // A file of the build, next to those that load it.
  program: fileURLToPath(new URL('./documents.js', import.meta.url)),
};
/** A page of two megabytes takes a second or two, unless it was made to take forever. */
const HTML_TIMEOUT_MS = 10_000;
/** Longer lines are wrapped, so that each can be shown. */
const MAX_LINE = 1_000;
const HEAP_MIB = 256;
/** Maximum bytes of an answer. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** `program` is the built file of program.ts. */
export function documentReader(given: Partial<ProcessBounds> = {}): DocumentReader {
  return {
    kindOf: (bytes) => (isPdf(bytes) ? 'a PDF document' : null),
    async read(bytes, signal) {
      const read = await readApart(bytes, { ...BOUNDS, ...given }, signal);
      return read.status === 'ok' ? { status: 'ok', text: readable(read.text) } : read;
    },
  };
}

/** Converts HTML to Markdown; null for a page that takes too much. Rejects when the signal aborts. */
export function htmlReader(given: Partial<ProcessBounds> = {}) {
  return async (html: string, signal: AbortSignal): Promise<string | null> => {
    const bounds = { ...BOUNDS, timeoutMs: HTML_TIMEOUT_MS, ...given };
    const read = await readApart(Buffer.from(html), bounds, signal);
    signal.throwIfAborted();
    return read.status === 'ok' ? read.text : null;
  };
}

/** Removes characters that are not text, and wraps lines so that they can be shown: at spaces, or mid-word if there are none. */
function readable(text: string): string {
  return Buffer.from(text, 'utf8')
    .toString('utf8')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
    .split('\n')
    .map((line) => (line.length <= MAX_LINE ? line : (line.match(FOLDS) ?? []).join('\n')))
    .join('\n');
}

const FOLDS = new RegExp(`.{1,${MAX_LINE}}(?: |$)|.{1,${MAX_LINE}}`, 'gsu');

/** Maximum processes at a time: a model can request more than fit into memory. */
const AT_ONCE = 2;
const underWay = new Set<Promise<unknown>>();

/** Reads the bytes when it is their turn; the time limit counts from then. */
async function readApart(...asked: Parameters<typeof readNow>): Promise<DocumentRead> {
  while (underWay.size >= AT_ONCE) await Promise.race(underWay);
  const read = readNow(...asked);
  underWay.add(read);
  return read.finally(() => underWay.delete(read));
}

/** The program's answer. */
const ProgramAnswer = z.union([z.strictObject({ text: z.string() }), z.strictObject({ why: z.string() })]);

async function readNow(
  bytes: Uint8Array,
  { timeoutMs, memoryKib, program }: ProcessBounds,
  signal: AbortSignal,
): Promise<DocumentRead> {
  const interrupted: DocumentRead = { status: 'failed', reason: 'interrupted', why: 'the run was stopped' };
  if (signal.aborted) return interrupted;
  const timeout = timeoutSignal(timeoutMs);
  const limits = `ulimit -c 0; ulimit -d ${memoryKib}; ulimit -t ${Math.ceil(timeoutMs / 1_000)}; exec "$@"`;
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const node = [
    ...[process.execPath, '--no-warnings', `--max-old-space-size=${HEAP_MIB}`],
    ...[permission, `--allow-fs-read=${program}`, program],
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
  if (signal.aborted) return interrupted;
  if (timeout.aborted) {
    const why = `it took more than ${Math.ceil(timeoutMs / 1_000)} s`;
    return { status: 'failed', reason: 'timeout', why };
  }
  const isWhole = ended.exitCode !== undefined && !ended.isMaxBuffer;
  const said = isWhole ? jsonOrUndefined(Buffer.from(ended.stdout).toString('utf8')) : undefined;
  const { data } = ProgramAnswer.safeParse(said);
  if (data === undefined)
    return { status: 'failed', reason: 'too_large', why: 'it takes more memory or time than a document may' };
  return 'text' in data
    ? { status: 'ok', text: data.text }
    : { status: 'failed', reason: 'not_text', why: oneLine(data.why, 300) };
}
