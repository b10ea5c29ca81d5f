import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Workspace } from '../../src/ports/workspace.ts';
import { listFilesTool } from '../../src/tools/list-files.ts';
import { type PlainWorkspace, plainWorkspace } from '../support/files/plain-workspace.ts';

let workspace: PlainWorkspace;

beforeEach(() => {
  workspace = plainWorkspace();
});

afterEach(() => workspace.remove());

test('a name with a line break, a quote or bytes that are not UTF-8 is one line, and repeating it gives the same path', async () => {
  const names = ['"quoted"', 'a\nb', 'caf\udce9', 'plain name', ' space'].sort();
  const listFiles: Workspace['listFiles'] = async () => ({ status: 'ok', paths: names });
  const context = { ...workspace.context, workspace: { ...workspace.context.workspace, listFiles } };
  const result = await listFilesTool.execute({ path: '' }, context);
  const lines = result.status === 'ok' ? result.output.head.split('\n') : [];
  expect(lines).toEqual(['" space"', '"\\"quoted\\""', '"a\\nb"', '"caf\\udce9"', 'plain name']);
  expect(lines.map((line) => (line.startsWith('"') ? JSON.parse(line) : line))).toEqual(names);
});

test('a large tree is an outline: small folders are open, large ones are counted', async () => {
  const names = ['README.md', 'src/a.ts', 'src/b.ts'];
  for (let n = 0; n < 5_000; n += 1) names.push(`packages/p${n % 40}/src/f${n}.ts`);
  for (let n = 0; n < 70; n += 1) names.push(`flat/${n}`);
  for (let n = 0; n < 300; n += 1) names.push(`wide/${n}/x`);
  const paths = names.sort();
  const listFiles: Workspace['listFiles'] = async (path) => ({
    status: 'ok',
    paths: paths.filter((name) => path === '' || name.startsWith(`${path}/`)),
  });
  const context = { ...workspace.context, workspace: { ...workspace.context.workspace, listFiles } };
  const linesOf = async (path: string) => {
    const result = await listFilesTool.execute({ path }, context);
    return result.status === 'ok' ? result.output.head.split('\n') : [];
  };
  const lines = await linesOf('.');
  expect(lines.length).toBeLessThanOrEqual(201);
  expect(lines).toContain('README.md');
  expect(lines).toContain('src/a.ts');
  expect(lines).toContain('flat/49');
  expect(lines).toContain('wide/  (300 files)');
  expect(lines).toContain('packages/p7/src/  (125 files)');
  expect(lines.at(-1)).toBe('[5,373 files in all. List a folder, or give a glob.]');
  expect((await linesOf('packages/p7')).length).toBe(125);
  expect(await linesOf('wide')).toContain('… and 100 more files');
  // Every file is named or counted once.
  const named = lines
    .slice(0, -1)
    .map((line) => Number(/([\d,]+)(?: more)? file/.exec(line)?.[1]?.replace(',', '') ?? 1));
  expect(named.reduce((sum, n) => sum + n, 0)).toBe(5_373);
});
