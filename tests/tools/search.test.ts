import { afterEach, beforeEach, expect, test } from 'vitest';
import { searchTool } from '../../src/tools/search.ts';
import { type PlainWorkspace, plainWorkspace } from '../support/files/plain-workspace.ts';

let workspace: PlainWorkspace;

beforeEach(() => {
  workspace = plainWorkspace();
});

afterEach(() => workspace.remove());

const search = (input: object, limit?: number) => workspace.call(searchTool, input, limit);

test('matches are shown with path and line, below the whole root or a path', async () => {
  workspace.put('a.ts', 'one\nneedle 1\n');
  workspace.put('src/b\nc.ts', 'needle 2\r\n');
  expect(await search({ pattern: 'needle \\d' })).toEqual({
    status: 'ok',
    text: 'a.ts:2:needle 1\n"src/b\\nc.ts":1:needle 2',
  });
  expect(await search({ pattern: 'needle', path: 'src' })).toEqual({
    status: 'ok',
    text: '"src/b\\nc.ts":1:needle 2',
  });
});

test('no match is reported as such, and an invalid pattern is explained', async () => {
  workspace.put('a', 'text');
  expect(await search({ pattern: 'needle' })).toEqual({ status: 'ok', text: '(no matches)' });
  expect(await search({ pattern: '[' })).toMatchObject({
    status: 'failed',
    reason: 'invalid_input',
    text: expect.stringContaining('unclosed character class'),
  });
});

test('more than 200 matching lines are cut off with a word on it', async () => {
  workspace.put('a', 'needle\n'.repeat(201));
  const { text } = await search({ pattern: 'needle' });
  expect(text.split('\n')).toHaveLength(201);
  expect(
    text.endsWith('a:200:needle\n[More than 200 lines match: narrow the search with path or glob.]'),
  ).toBe(true);
});
