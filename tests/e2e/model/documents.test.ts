import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { documentReader, htmlReader } from '../../../src/adapters/documents/reader.ts';
import { docxOf, paragraph } from '../../support/documents/docx.ts';
import { pdfOf } from '../../support/documents/pdf.ts';
import { makeRepository, removeFolders } from '../../support/files/repository.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

afterAll(removeFolders);

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
    const docx = await read(docxOf(paragraph(`${'word '.repeat(300)}\u0007end`)));
    expect(docx.status === 'ok' && docx.text.split('\n').map(({ length }) => length)).toEqual([
      1_000, 503, 0,
    ]);
    expect(docx.status === 'ok' && docx.text).not.toContain('\u0007');
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

  test('is read by the model as text is, and cannot be edited as such', async () => {
    const repository = await makeRepository({ 'a.txt': 'old\n' });
    writeFileSync(join(repository.root, 'spec.pdf'), pdfOf(['Name it beta.']));
    writeFileSync(join(repository.root, 'other.docx'), docxOf(paragraph('One') + paragraph('Two')));
    const { exitCode, stderr, events } = await scriptedRun({
      repository,
      built: true,
      turns: [
        {
          calls: [
            call('read_file', { path: 'spec.pdf' }),
            call('read_file', { path: 'other.docx', offset: 3, limit: 1 }),
            call('edit_file', { path: 'other.docx', find: 'One', replace: 'Three' }),
          ],
        },
        { calls: [call('finish', { status: 'done', summary: 'Looked.' })] },
      ],
    });
    expect(exitCode, stderr).toBe(0);
    const said = events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome] : []));
    expect(said[0]).toMatchObject({
      status: 'ok',
      text: '[Text of a PDF document, without layout and pictures]\n[Page 1 of 1]\nName it beta.\n',
    });
    expect(said[1]).toMatchObject({ status: 'ok', text: 'Two\n[Lines 3-3 of 3]' });
    expect(said[2]).toMatchObject({ status: 'failed', reason: 'not_text' });
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
