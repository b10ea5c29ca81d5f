/** `read_file`: a text file, or some of its lines, verbatim; of a document, its text; an image as it is. */

import * as z from 'zod';
import description from '../../prompts/tools/read_file.md';
import type { RepoPath } from '../domain/changes/path.ts';
import type { Excerpt } from '../domain/conversation/excerpt.ts';
import { describeImage, imageIn, tooLargeImage } from '../domain/images/image.ts';
import { shellWord } from '../domain/shell-word.ts';
import { firstUnits } from '../domain/text/shorten.ts';
import { formatNumber } from '../domain/text/words.ts';
import type { FileRead } from '../ports/workspace.ts';
import type { DocumentReader, SeenFiles, ToolResult } from '../ports.ts';
import { type FileTool, fileTool } from './file-tool.ts';
import { failedCall, literalCall, PATH_ALIASES, said } from './result.ts';
import { countLines, describeNotText, type LineRange, missingLines, startOfLine } from './text.ts';

/** Maximum bytes of lines that one call shows; of a longer file it shows the beginning. */
const MAX_READ_BYTES = 102_400;

const Input = z.strictObject({
  path: z.string(),
  offset: z.int().min(1).optional().describe('First line, from 1'),
  limit: z.int().min(1).optional().describe('Number of lines'),
});
type Input = z.infer<typeof Input>;

/** Reads a file, or some of its lines. Without a reader of documents, every file is text or nothing. */
export function readFileTool(documents: DocumentReader = NO_DOCUMENTS): FileTool<Input> {
  return fileTool<Input>({
    name: 'read_file',
    description,
    schema: Input,
    lane: 'read',
    aliases: PATH_ALIASES,
    async execute(input, context) {
      const { path } = input;
      const file = await context.workspace.readFile(path);
      if (file.status === 'failed') return unreadable(path, file, input);
      const { blob, text, bytes } = file;
      const kind = documents.kindOf(bytes);
      if (kind !== null)
        return readDocument({ kind, path, blob, bytes }, { documents, input, signal: context.signal });
      if (text === null) return showImage(path, bytes);
      if (text === '') return said('(the file is empty)');
      return showLines({ path, blob, text, size: bytes.length }, input, context);
    },
  });
}

const NO_DOCUMENTS: DocumentReader = {
  kindOf: () => null,
  read: async () => ({ status: 'failed', reason: 'not_text', why: 'documents are not read' }),
};

/** Nothing of the file counts as seen: what a model makes of an image is not its bytes. */
function showImage(path: RepoPath, bytes: Uint8Array): ToolResult {
  const image = imageIn(bytes);
  if (image === null) return failedCall('not_text', describeNotText(path, bytes));
  const what = `${JSON.stringify(path)} is ${describeImage(image)}`;
  const why = tooLargeImage(image);
  return why === null
    ? { ...said(`[${what}]`), images: [image] }
    : failedCall('too_large', `${what}, and ${why}.`);
}

interface DocumentFile extends Omit<TextFile, 'text' | 'size'> {
  readonly kind: string;
  readonly bytes: Uint8Array;
}

/** The model has then seen nothing of the file itself, only text made from it. */
async function readDocument(
  { kind, path, blob, bytes }: DocumentFile,
  { documents, input, signal }: { documents: DocumentReader; input: Input; signal: AbortSignal },
): Promise<ToolResult> {
  const read = await documents.read(bytes, signal);
  if (read.status === 'failed') {
    const what = `${JSON.stringify(path)} is ${kind} of ${formatNumber(bytes.length)} bytes`;
    return failedCall(read.reason, `${what}, and its text cannot be read: ${read.why.replace(/\.$/, '')}.`);
  }
  const text = `[Text of ${kind}, without layout and pictures]\n${read.text}`;
  return showLines({ path, blob, text, size: bytes.length }, input, { seen: { saw: () => undefined } });
}

interface TextFile {
  readonly path: RepoPath;
  readonly blob: string;
  readonly text: string;
  readonly size: number;
}

function unreadable(
  path: RepoPath,
  { reason, message, beginning }: Extract<FileRead, { status: 'failed' }>,
  { offset = 1, limit }: Input,
): ToolResult {
  if (reason !== 'too_large') return failedCall(reason, message);
  const begins = (offset === 1 && beginning !== undefined ? wholeLines(beginning) : null) ?? '';
  const text = limit === undefined ? begins : begins.slice(0, startOfLine(begins, limit + 1));
  const from = offset + countLines(text);
  const command = `sed -n '${from},${from + (limit ?? 400) - 1}p' ${shellWord(`./${path}`)}`;
  const next = literalCall('run_command', { command });
  if (text === '') return failedCall('too_large', `${message} Next: ${next}`);
  return said(`${text}[Lines 1-${from - 1}. ${message} Next: ${next}]`);
}

/** The complete lines at the beginning of a file; null if it is not text or has none. */
function wholeLines(beginning: Uint8Array): string | null {
  const end = beginning.lastIndexOf(0x0a) + 1;
  if (end === 0 || beginning.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(beginning.subarray(0, end));
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function showLines(
  file: TextFile,
  { offset, limit }: Input,
  { seen }: { readonly seen: Pick<SeenFiles, 'saw'> },
): ToolResult {
  const total = countLines(file.text);
  const from = offset ?? 1;
  if (from > total) {
    return failedCall(
      'invalid_input',
      `Line ${from} is beyond the end: ${JSON.stringify(file.path)} has ${total} lines.`,
    );
  }
  const wanted: LineRange = { from, to: Math.min(total, limit === undefined ? total : from + limit - 1) };
  const start = startOfLine(file.text, from);
  const asked = file.text.slice(start, start + startOfLine(file.text.slice(start), wanted.to - from + 2));
  const fits = linesThatFit(asked);
  if (fits === 0) return longLine(file, from, asked);
  const lines: LineRange = { from, to: Math.min(wanted.to, from + fits - 1) };
  const body = asked.slice(0, startOfLine(asked, fits + 1));
  const notice = noticeOf(file, { lines, wanted, total });
  const output = notice === '' || body.endsWith('\n') ? `${body}${notice}` : `${body}\n${notice}`;
  const missing = (shown: Excerpt) =>
    missingLines(body, lines, { ...shown, tail: withoutNotice(shown.tail, notice, body) });
  return {
    ...said(output),
    next: (head, omitted, tail) =>
      restOf(file.path, lines, missing({ head, omitted, tail }) ?? lines, head.length),
    shown(excerpt) {
      const gap = missing(excerpt);
      const parts = gap
        ? [
            { from: lines.from, to: gap.from - 1 },
            { from: gap.to + 1, to: lines.to },
          ]
        : [lines];
      for (const part of parts) if (part.from <= part.to) seen.saw(file.path, file.blob, part, total);
    },
  };
}

interface Shown {
  readonly lines: LineRange;
  readonly wanted: LineRange;
  /** Lines of the file. */
  readonly total: number;
}

/** Which lines these are, and the call that shows what did not fit; empty for a file that is shown as a whole. */
function noticeOf({ path, size }: TextFile, { lines, wanted, total }: Shown): string {
  if (lines.to < wanted.to) {
    const next = literalCall('read_file', { path, offset: lines.to + 1, limit: wanted.to - lines.to });
    const of = `of ${formatNumber(total)} (${formatNumber(size)} bytes)`;
    return `[Lines ${lines.from}-${lines.to} ${of}: one call shows at most ${formatNumber(MAX_READ_BYTES)} bytes. Next: ${next}]`;
  }
  return lines.to - lines.from + 1 < total ? `[Lines ${lines.from}-${lines.to} of ${total}]` : '';
}

function withoutNotice(tail: string, notice: string, body: string): string {
  if (notice === '' || !tail.endsWith(notice)) return tail;
  const shown = tail.slice(0, tail.length - notice.length);
  return body.endsWith('\n') ? shown : shown.replace(/\n$/, '');
}

/** The call that shows the missing lines; if that would be the same call again, one that gets further. */
function restOf(path: RepoPath, lines: LineRange, missing: LineRange, shownChars: number): string {
  const count = missing.to - missing.from + 1;
  const same = missing.from === lines.from && missing.to === lines.to;
  if (same && count === 1) return cutLine(path, missing.from, shownChars + 1);
  const limit = same ? Math.ceil(count / 2) : count;
  return literalCall('read_file', { path, offset: missing.from, limit });
}

/** `cut` counts bytes, whatever its flag is called. */
function cutLine(path: RepoPath, line: number, firstChar: number): string {
  const cut = `cut -c ${firstChar}-${firstChar + 19_999}`;
  return literalCall('run_command', { command: `sed -n '${line}p' ${shellWord(`./${path}`)} | ${cut}` });
}

/** The beginning of a line that is too long to show as a line, as characters. */
function longLine({ path }: TextFile, line: number, body: string): ToolResult {
  const end = body.indexOf('\n');
  const text = end === -1 ? body : body.slice(0, end);
  const head = firstUnits(text, LONG_LINE_CHARS);
  const next = cutLine(path, line, utf8Length(head) + 1);
  return said(
    `${head}\n[Line ${line} has ${formatNumber(utf8Length(text))} bytes, of which this is the beginning. Next: ${next}]`,
  );
}

/** Characters of a line that is too long to be shown. */
const LONG_LINE_CHARS = 20_000;

function linesThatFit(body: string): number {
  let bytes = 0;
  let lines = 0;
  for (let start = 0; start < body.length; lines += 1) {
    const newline = body.indexOf('\n', start);
    const end = newline === -1 ? body.length : newline + 1;
    bytes += utf8Length(body.slice(start, end));
    if (bytes > MAX_READ_BYTES) return lines;
    start = end;
  }
  return lines;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
