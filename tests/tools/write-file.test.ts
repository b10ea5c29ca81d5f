import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFileTool } from '../../src/tools/read-file.ts';
import { writeFileTool } from '../../src/tools/write-file.ts';
import { type PlainWorkspace, plainWorkspace } from '../support/files/plain-workspace.ts';

let workspace: PlainWorkspace;

const ok = (text: string) => ({ status: 'ok', text });
const failed = (reason: string, text: string) => ({ status: 'failed', reason, text });

beforeEach(() => {
  workspace = plainWorkspace({ ignored: (path) => path.startsWith('build/') });
});

afterEach(() => workspace.remove());

const write = (path: string, content: string) => workspace.call(writeFileTool, { path, content });
const onDisk = (path: string) => readFileSync(join(workspace.root, path), 'utf8');

test('a file that was never read, or read whole, may be replaced', async () => {
  workspace.put('a', 'old');
  expect(await write('a', 'new')).toEqual({ status: 'ok', text: 'Replaced "a": 3 bytes.' });
  workspace.put('b', 'old');
  await workspace.call(readFileTool(), { path: 'b' });
  expect(await write('b', 'new')).toEqual({ status: 'ok', text: 'Replaced "b": 3 bytes.' });
});

test('a partially shown file keeps its content until the rest is read', async () => {
  const text = 'a line of text\n'.repeat(100);
  workspace.put('long.txt', text);
  await workspace.call(readFileTool(), { path: 'long.txt' }, 1_000);
  expect(await write('long.txt', 'short')).toEqual({
    status: 'failed',
    reason: 'conflict',
    text:
      'Not written: only a part of "long.txt" (100 lines) has been shown, and the rest would be lost. Change it with edit_file, or read the rest first: ' +
      'read_file {"path":"long.txt","offset":1,"limit":50} and read_file {"path":"long.txt","offset":51}',
  });
  expect(onDisk('long.txt')).toBe(text);
  await workspace.call(readFileTool(), { path: 'long.txt', offset: 1, limit: 50 });
  await workspace.call(readFileTool(), { path: 'long.txt', offset: 51 });
  expect(await write('long.txt', 'short')).toMatchObject({ status: 'ok' });
});

test('a file that changed since it was shown in part is another version, and may be replaced', async () => {
  workspace.put('a', 'one\ntwo\n');
  await workspace.call(readFileTool(), { path: 'a', limit: 1 });
  workspace.put('a', 'three\n');
  expect(await write('a', 'new')).toMatchObject({ status: 'ok' });
});

test('a path that git ignores is written, with a note that it is not in the patch', async () => {
  expect(await write('build/out.js', 'x')).toEqual(
    ok('Created "build/out.js": 1 byte. Git ignores this path, so it will not be in the patch.'),
  );
});

test('a content of more than 8 MiB is refused with both numbers, and nothing is written', async () => {
  const most = 8 * 1024 * 1024;
  expect(await write('big.txt', 'é'.repeat(most / 2 + 1))).toEqual(
    failed('too_large', 'Not written: the content has 8,388,610 bytes; one call writes at most 8,388,608.'),
  );
  expect(() => onDisk('big.txt')).toThrow('ENOENT');
});
