import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendFileTool } from '../../src/tools/append-file.ts';
import { readFileTool } from '../../src/tools/read-file.ts';
import { writeFileTool } from '../../src/tools/write-file.ts';
import { type PlainWorkspace, plainWorkspace } from '../support/files/plain-workspace.ts';

let workspace: PlainWorkspace;

beforeEach(() => {
  workspace = plainWorkspace();
});

afterEach(() => workspace.remove());

const append = (path: string, content: string) => workspace.call(appendFileTool, { path, content });
const onDisk = (path: string) => readFileSync(join(workspace.root, path), 'utf8');

test('text goes to the end, on a separate line, with the line endings of the file', async () => {
  expect(await append('a/log.txt', 'one')).toEqual({
    status: 'ok',
    text: 'Created "a/log.txt": 3 bytes, now 3.',
  });
  expect(await append('a/log.txt', 'two\n')).toEqual({
    status: 'ok',
    text: 'Added to "a/log.txt": 5 bytes, now 8.',
  });
  expect(onDisk('a/log.txt')).toBe('one\ntwo\n');
  workspace.put('crlf.txt', 'a\r\nb');
  await append('crlf.txt', 'c\nd\r\n');
  expect(onDisk('crlf.txt')).toBe('a\r\nb\r\nc\r\nd\r\n');
});

test('files that are not text, outside or too large stay unchanged', async () => {
  workspace.put('b.bin', Buffer.from([0, 1, 2]));
  expect(await append('b.bin', 'x')).toMatchObject({ status: 'failed', reason: 'not_text' });
  expect(await append('../x', 'x')).toMatchObject({ status: 'failed', reason: 'path_refused' });
  workspace.put('big.txt', 'a'.repeat(8 * 1024 * 1024));
  expect(await append('big.txt', 'x')).toMatchObject({ status: 'failed' });
});

test('a file that was read in part is not known as a whole by adding to it', async () => {
  workspace.put('long.txt', 'a line of text\n'.repeat(100));
  await workspace.call(readFileTool(), { path: 'long.txt', offset: 1, limit: 10 });
  await append('long.txt', 'end\n');
  expect(await workspace.call(writeFileTool, { path: 'long.txt', content: 'x' })).toMatchObject({
    status: 'ok',
  });
});
