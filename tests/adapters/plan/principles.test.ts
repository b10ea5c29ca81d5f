import { createHash } from 'node:crypto';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type PrinciplesQuery, readPrinciples } from '../../../src/adapters/plan/principles.ts';
import { makePipe, tempFolder } from '../../support/files/temp-folder.ts';

/** Reads the principles of a repository in which one stands at the root and asks for nothing special. */
const read = (root: string, query: Partial<PrinciplesQuery> = {}) =>
  readPrinciples({ files: null, root, workingDirectory: '', cwd: root, maxBytes: 65_536, ...query });

const whole = (path: string, text: string) => ({
  path,
  text,
  sha256: createHash('sha256').update(text).digest('hex'),
  bytes: Buffer.byteLength(text),
  truncated: false,
});

const ok = (...principles: unknown[]) => ({ status: 'ok', principles, warnings: [] });

const failed = (message: string) => ({ status: 'failed', message });

describe('without named files', () => {
  const files = { 'AGENTS.md': 'root', 'a/AGENTS.md': 'a', 'a/b/c/AGENTS.md': 'c', 'x/AGENTS.md': 'x' };

  test('AGENTS.md is read from the root down to the working directory, the closest last', async () => {
    const root = tempFolder({ ...files, 'CLAUDE.md': 'not used' });
    const down = [whole('AGENTS.md', 'root'), whole('a/AGENTS.md', 'a'), whole('a/b/c/AGENTS.md', 'c')];
    expect(await read(root)).toEqual(ok(down[0]));
    expect(await read(root, { workingDirectory: 'a/b' })).toEqual(ok(down[0], down[1]));
    expect(await read(root, { workingDirectory: 'a/b/c' })).toEqual(ok(...down));
  });

  test('CLAUDE.md is read only if there is no AGENTS.md on the way', async () => {
    const root = tempFolder({ 'CLAUDE.md': 'root', 'a/CLAUDE.md': 'a', 'x/AGENTS.md': 'x' });
    expect(await read(root, { workingDirectory: 'a' })).toEqual(
      ok(whole('CLAUDE.md', 'root'), whole('a/CLAUDE.md', 'a')),
    );
    expect(await read(root, { workingDirectory: 'x' })).toEqual(ok(whole('x/AGENTS.md', 'x')));
  });

  test('none at all is fine', async () => {
    expect(await read(tempFolder())).toEqual(ok());
  });

  test('a link is followed inside the repository only, and never into .git', async () => {
    const outside = tempFolder({ secret: 'secret' });
    const root = tempFolder({
      'docs/rules.md': 'rules',
      '.git/config': 'token',
      'b/x': '',
      'c/x': '',
      'd/x': '',
    });
    symlinkSync('docs/rules.md', join(root, 'AGENTS.md'));
    symlinkSync(join(outside, 'secret'), join(root, 'b/AGENTS.md'));
    symlinkSync('../.git/config', join(root, 'c/AGENTS.md'));
    symlinkSync('nowhere', join(root, 'd/AGENTS.md'));
    const rules = whole('AGENTS.md', 'rules');
    const refused = (path: string) => ({
      ...ok(rules),
      warnings: [
        `[WARN_PRINCIPLES_OUTSIDE] ${path} links to a place outside the repository and is not used.`,
      ],
    });
    expect(await read(root)).toEqual(ok(rules));
    expect(await read(root, { workingDirectory: 'b' })).toEqual(refused('b/AGENTS.md'));
    expect(await read(root, { workingDirectory: 'c' })).toEqual(refused('c/AGENTS.md'));
    expect(await read(root, { workingDirectory: 'd' })).toEqual(ok(rules));
  });

  test('a pipe or folder with that name is reported and does not block', async () => {
    const root = tempFolder({ 'a/AGENTS.md/file': '' });
    makePipe(join(root, 'AGENTS.md'));
    expect(await read(root)).toEqual(failed('The principles AGENTS.md is not a file.'));
    expect(await read(join(root, 'a'))).toEqual(failed('The principles AGENTS.md is a folder.'));
  });
});

describe('named files', () => {
  test('take the place of the default, in their order, from where one stands', async () => {
    const root = tempFolder({ 'AGENTS.md': 'default', 'a/one.md': 'one', 'two.md': 'two' });
    const outside = tempFolder({ 'three.md': 'three' });
    const files = ['one.md', '../two.md', join(outside, 'three.md')];
    expect(await read(root, { cwd: join(root, 'a'), files })).toEqual(
      ok(whole('a/one.md', 'one'), whole('two.md', 'two'), whole(join(outside, 'three.md'), 'three')),
    );
  });

  test('must exist and be text', async () => {
    const root = tempFolder({ latin: new Uint8Array([0xfc]) });
    const named = (file: string) => read(root, { files: [file] });
    expect(await named('nowhere.md')).toEqual(failed('The principles nowhere.md does not exist.'));
    expect(await named('latin')).toEqual(failed('The principles latin is not UTF-8 text.'));
  });
});

test('all texts together keep to the cap, in whole characters; hash and size are those of the whole file', async () => {
  const root = tempFolder({ 'AGENTS.md': 'abc', 'a/AGENTS.md': 'äöü€😀', 'a/b/AGENTS.md': 'end' });
  const cut = async (maxBytes: number) => {
    const result = await read(root, { workingDirectory: 'a/b', maxBytes });
    return result.status === 'ok' ? result.principles : result;
  };
  expect(await read(root, { workingDirectory: 'a/b', maxBytes: 11 })).toMatchObject({
    warnings: [
      '[WARN_PRINCIPLES_CUT] Only 6 of 13 bytes of a/AGENTS.md is used as principles; raise --max-principles-bytes to use more.',
      '[WARN_PRINCIPLES_CUT] Only 2 of 3 bytes of a/b/AGENTS.md is used as principles; raise --max-principles-bytes to use more.',
    ],
  });
  const [first, second, third] = [
    whole('AGENTS.md', 'abc'),
    whole('a/AGENTS.md', 'äöü€😀'),
    whole('a/b/AGENTS.md', 'end'),
  ];
  const none = { text: '', truncated: true };
  expect(await cut(19)).toEqual([first, second, third]);
  expect(await cut(15)).toEqual([first, { ...second, text: 'äöü€', truncated: true }, third]);
  expect(await cut(11)).toEqual([
    first,
    { ...second, text: 'äöü', truncated: true },
    { ...third, text: 'en', truncated: true },
  ]);
  expect(await cut(3)).toEqual([first, { ...second, ...none }, { ...third, ...none }]);
  expect(await cut(0)).toEqual([
    { ...first, ...none },
    { ...second, ...none },
    { ...third, ...none },
  ]);
});
