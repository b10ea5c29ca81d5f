/** Reads documents and HTML pages, each in a separate process. */

import { oneLine } from '../../domain/text/terminal.ts';
import type { DocumentRead, DocumentReader } from '../../ports.ts';
import { isDocx, isPdf } from './kinds.ts';
import { PROGRAM, type ProcessBounds, type ProcessRead, readApart } from './own-process.ts';

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
    kindOf: (bytes) => (isPdf(bytes) ? 'a PDF document' : isDocx(bytes) ? 'a Word document' : null),
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
