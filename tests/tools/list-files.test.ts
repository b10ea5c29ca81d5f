import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Workspace } from '../../src/ports.ts';
import { listFilesTool } from '../../src/tools/list-files.ts';
import { type PlainWorkspace, plainWorkspace } from '../support/files/plain-workspace.ts';

let workspace: PlainWorkspace;

beforeEach(() => {
  workspace = plainWorkspace();
});

afterEach(() => workspace.remove());

const list = (input: object, limit?: number) => workspace.call(listFilesTool, input, limit);

test('files are listed one a line, from the root or a folder', async () => {
  for (const path of ['a.ts', 'src/b.ts', 'src/deep/c.ts']) workspace.put(path, '');
  expect(await list({ path: '.' })).toEqual({ status: 'ok', text: 'a.ts\nsrc/b.ts\nsrc/deep/c.ts' });
  expect(await list({ path: 'src/' })).toEqual({ status: 'ok', text: 'src/b.ts\nsrc/deep/c.ts' });
});

test('no files are said to be none', async () => {
  expect(await list({ path: '' })).toEqual({ status: 'ok', text: '(no files)' });
});

test('the glob goes to the workspace as it is', async () => {
  const asked: (string | null)[] = [];
  const listFiles: Workspace['listFiles'] = async (path, glob) => {
    asked.push(path, glob);
    return { status: 'ok', paths: [] };
  };
  const context = { ...workspace.context, workspace: { ...workspace.context.workspace, listFiles } };
  await listFilesTool.execute({ path: './src', glob: '*.[jt]s' }, context);
  await listFilesTool.execute({ path: 'src' }, context);
  expect(asked).toEqual(['src', '*.[jt]s', 'src', null]);
});

test('a name with a line break, a quote or bytes that are not UTF-8 is one line, and repeating it gives the same path', async () => {
  const names = ['"quoted"', 'a\nb', 'caf\udce9', 'plain name', ' space'].sort();
  const listFiles: Workspace['listFiles'] = async () => ({ status: 'ok', paths: names });
  const context = { ...workspace.context, workspace: { ...workspace.context.workspace, listFiles } };
  const result = await listFilesTool.execute({ path: '' }, context);
  const lines = result.status === 'ok' ? result.output.head.split('\n') : [];
  expect(lines).toEqual(['" space"', '"\\"quoted\\""', '"a\\nb"', '"caf\\udce9"', 'plain name']);
  expect(lines.map((line) => (line.startsWith('"') ? JSON.parse(line) : line))).toEqual(names);
});

test('a list that is cut names the folder, or the names of a flat folder, where it was cut', async () => {
  for (let n = 0; n < 60; n += 1) workspace.put(`src/part${n % 3}/file-${n}`, '');
  expect((await list({ path: '' }, 1_000)).next).toBe('list_files {"path":"src/part1"}');
  for (let n = 0; n < 60; n += 1) writeFileSync(`${workspace.root}/[${n}] in the root`, '');
  expect((await list({ path: '.' }, 1_000)).next).toBe(
    `list_files ${JSON.stringify({ path: '.', glob: '/\\[*' })}`,
  );
});

test('paths outside are refused', async () => {
  expect(await list({ path: '..' })).toMatchObject({ status: 'failed', reason: 'path_refused' });
});
