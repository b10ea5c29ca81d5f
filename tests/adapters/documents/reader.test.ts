import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { documentReader, htmlReader } from '../../../src/adapters/documents/reader.ts';
import { pdfOf } from '../../support/documents/pdf.ts';

const program = join(process.cwd(), 'dist', 'documents.js');
const signal = new AbortController().signal;
const read = (bytes: Buffer, bounds = {}) => documentReader({ program, ...bounds }).read(bytes, signal);

describe('a document', () => {
  test('has its text, page by page, in lines that can be shown', async () => {
    const reader = documentReader({ program });
    const pdf = pdfOf(['Requirements\n1. (Fast)', '']);
    expect(reader.kindOf(pdf)).toBe('a PDF document');
    expect(await read(pdf)).toEqual({
      status: 'ok',
      text: '[Page 1 of 2]\nRequirements\n1. (Fast)\n\n[Page 2 of 2]\n(no text: it may be a picture)\n',
    });
  });

  test('that is broken, a bomb or endless only costs a separate process and a bounded time', async () => {
    expect(await read(Buffer.from('%PDF-1.4 and nothing more'))).toMatchObject({ reason: 'not_text' });
    const bomb = pdfOf([''], deflateSync(Buffer.alloc(300_000_000, 32), { level: 1 }));
    expect(await read(bomb, { memoryKib: 300_000 })).toMatchObject({ reason: 'too_large' });
    expect(await read(pdfOf(['x']), { timeoutMs: 1 })).toMatchObject({ reason: 'timeout' });
    const stopped = AbortSignal.abort();
    expect(await documentReader({ program }).read(pdfOf(['x']), stopped)).toMatchObject({
      reason: 'interrupted',
    });
  });
});

describe('a page of the web', () => {
  test('is Markdown, whatever characters it has', async () => {
    expect(await htmlReader({ program })('<h1>Gr\u00fc\u00dfe</h1><p>\u4f60 <b>x</b>', signal)).toBe(
      '# Gr\u00fc\u00dfe\n\n\u4f60 **x**',
    );
  });

  test('that is nested too deeply only costs a separate process and a bounded time', async () => {
    const html = '<div>'.repeat(300_000);
    expect(await htmlReader({ program, timeoutMs: 1_000 })(html, signal)).toBe(null);
    const stop = new AbortController();
    const read = htmlReader({ program })(html, stop.signal);
    const more = Array.from({ length: 20 }, () => htmlReader({ program })(html, stop.signal));
    stop.abort(new Error('stopped'));
    const ends = await Promise.allSettled([read, ...more]);
    expect(ends.map((end) => 'reason' in end && end.reason.message)).toEqual(Array(21).fill('stopped'));
  });
});
