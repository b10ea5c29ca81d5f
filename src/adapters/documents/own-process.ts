/**
 * Reads untrusted documents in a separate patchsmith process (program.ts), since their authors may want the reader to run out
 * of memory, time or control: the process has no variables, no files and no children, and its own limits.
 */

import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { timeoutSignal } from '../../files/time-limit.ts';

/** Limits for one process. */
export interface ProcessBounds {
  readonly timeoutMs: number;
  /** Memory that it may write to, in KiB: unpacked data is not on the JavaScript heap. */
  readonly memoryKib: number;
}

const HEAP_MIB = 256;
/** Maximum bytes of an answer. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** A file of the build, next to those that load it. */
export const PROGRAM = fileURLToPath(new URL('./documents.js', import.meta.url));

/** The program's answer. */
const ProgramAnswer = z.union([z.strictObject({ text: z.string() }), z.strictObject({ why: z.string() })]);

/** A text, or why there is none: `why` comes from the program; null if it exceeded its memory or processor time. */
export type ProcessRead =
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
export async function readApart(
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
