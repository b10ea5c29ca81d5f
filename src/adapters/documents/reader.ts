/**
 * Reads documents by a program of patchsmith's own (program.ts), since whoever wrote a document may want its reader to run out of
 * memory, time or control: the process has no variables, no files and no children, and bounds of its own.
 */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import type { DocumentRead, DocumentReader } from '../../ports.ts';
import { isDocx, isPdf } from './kinds.ts';

/** Bounds of one process. */
interface Bounds {
  readonly timeoutMs: number;
  /** Memory that it may write to, in KiB: what is unpacked is not on the heap of JavaScript. */
  readonly memoryKib: number;
}

const BOUNDS: Bounds = { timeoutMs: 30_000, memoryKib: 768 * 1024 };
const HEAP_MIB = 256;
/** Bytes of an answer at most. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Longer lines are folded, so that one can be shown. */
const MAX_LINE = 1_000;

/** A file of the build, beside those that load it. */
const PROGRAM = fileURLToPath(new URL('./documents.js', import.meta.url));

/** What the program answers. */
const DocumentAnswer = z.union([z.strictObject({ text: z.string() }), z.strictObject({ why: z.string() })]);

/** `program` is the built file of program.ts. */
export function documentReader({
  program = PROGRAM,
  ...bounds
}: Partial<Bounds & { program: string }> = {}): DocumentReader {
  return {
    kindOf: (bytes) => (isPdf(bytes) ? 'a PDF document' : isDocx(bytes) ? 'a Word document' : null),
    read: (bytes, signal) => readDocument(program, bytes, { ...BOUNDS, ...bounds, signal }),
  };
}

async function readDocument(
  program: string,
  bytes: Uint8Array,
  { timeoutMs, memoryKib, signal }: Bounds & { signal: AbortSignal },
): Promise<DocumentRead> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const seconds = Math.ceil(timeoutMs / 1_000);
  const limits = `ulimit -c 0; ulimit -d ${memoryKib}; ulimit -t ${seconds}; exec "$@"`;
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
  const child = spawn('/bin/sh', ['-c', limits, 'sh', ...node], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
    signal: AbortSignal.any([signal, timeout]),
    killSignal: 'SIGKILL',
  });
  // It may end without reading.
  child.stdin.on('error', () => undefined).end(bytes);
  const chunks: Buffer[] = [];
  let length = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) child.kill('SIGKILL');
    else chunks.push(chunk);
  });
  const failure = await new Promise<Error | null>((resolve) => {
    child.on('error', (error) => resolve(error));
    child.on('close', () => resolve(null));
  });
  if (signal.aborted) return { status: 'failed', reason: 'interrupted', why: 'the run was stopped' };
  if (timeout.aborted) return { status: 'failed', reason: 'timeout', why: `it took more than ${seconds} s` };
  const said =
    length > MAX_ANSWER_BYTES ? undefined : jsonOrUndefined(Buffer.concat(chunks).toString('utf8'));
  const answer = DocumentAnswer.safeParse(said);
  if (failure !== null || !answer.success)
    return { status: 'failed', reason: 'too_large', why: 'it takes more memory or time than a document may' };
  if ('why' in answer.data)
    return { status: 'failed', reason: 'not_text', why: oneLine(answer.data.why, 300) };
  return { status: 'ok', text: readable(answer.data.text) };
}

/** Without characters that are no text, and in lines that can be shown. */
function readable(text: string): string {
  return Buffer.from(text, 'utf8')
    .toString('utf8')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
    .split('\n')
    .map(folded)
    .join('\n');
}

/** Broken at blanks, and where there are none. */
function folded(line: string): string {
  return line.length <= MAX_LINE ? line : (line.match(FOLDS) ?? []).join('\n');
}

const FOLDS = new RegExp(`.{1,${MAX_LINE}}(?: |$)|.{1,${MAX_LINE}}`, 'gsu');
