import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readMatches } from '../../../../src/adapters/workspace/search/ripgrep-output.ts';
import { searchFiles } from '../../../../src/adapters/workspace/search/search.ts';
import type { RepoPath } from '../../../../src/domain/changes/path.ts';
import type { SearchQuery } from '../../../../src/ports/workspace.ts';

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'patchsmith-search-')));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, content: string | Uint8Array) => writeFileSync(join(root, path), content);
const query = (pattern: string, more: Partial<SearchQuery> = {}): SearchQuery => ({
  pattern,
  path: '' as RepoPath,
  glob: null,
  maxMatches: 100,
  signal: new AbortController().signal,
  ...more,
});
const search = (pattern: string, more?: Partial<SearchQuery>) =>
  searchFiles(root, readdirSync(root), query(pattern, more));

test('takes every file name as a name: dashes, colons, newlines', async () => {
  for (const name of ['-', '--help', 'a:1:b', 'line\nbreak', '[x]*', 'ünï']) put(name, 'needle');
  const found = await search('needle');
  expect(found.status === 'ok' && found.matches.map((match) => match.path)).toEqual([
    '-',
    '--help',
    '[x]*',
    'a:1:b',
    'line\nbreak',
    'ünï',
  ]);
});

test('searches only the files it is given, and no links, folders or pipes among them', async () => {
  put('given', 'needle');
  put('other', 'needle');
  mkdirSync(join(root, 'folder'));
  writeFileSync(join(root, 'folder', 'inner'), 'needle');
  symlinkSync('other', join(root, 'link'));
  symlinkSync('/etc/passwd', join(root, 'outward'));
  expect(spawnSync('mkfifo', [join(root, 'pipe')]).status).toBe(0);
  const paths = ['given', 'folder', 'link', 'outward', 'pipe', 'gone'];
  expect(await searchFiles(root, paths, query('needle|root'))).toEqual({
    status: 'ok',
    matches: [{ path: 'given', line: 1, text: 'needle' }],
    more: false,
  });
});

test('searches files with names that are not UTF-8, in folders with such names', async () => {
  const folder = Buffer.concat([Buffer.from(`${root}/f`), Buffer.of(0xff)]);
  mkdirSync(folder);
  writeFileSync(Buffer.concat([folder, Buffer.from('/n'), Buffer.of(0xe9)]), 'needle');
  expect(await searchFiles(root, ['f\udcff/n\udce9'], query('needle'))).toMatchObject({
    matches: [{ path: 'f\udcff/n\udce9', line: 1 }],
  });
});

test('leaves binary files out, also when the zero byte comes late, and shows Latin-1 as well as it can', async () => {
  put('early.bin', 'needle\0needle');
  put('late.bin', `needle\n${'filler line\n'.repeat(20_000)}\0\nneedle\n`);
  put('latin.txt', Buffer.from('needle \xe9', 'latin1'));
  put('zz.txt', 'needle');
  expect(await search('needle')).toEqual({
    status: 'ok',
    matches: [
      { path: 'latin.txt', line: 1, text: 'needle \ufffd' },
      { path: 'zz.txt', line: 1, text: 'needle' },
    ],
    more: false,
  });
});

test('cuts long lines at 500 characters and never within a character', async () => {
  put('long', `needle${'x'.repeat(3_000_000)}`);
  put('wide', `needle!${'😀'.repeat(1_000)}`);
  const found = await search('needle');
  expect(found.status === 'ok' && found.matches.map((match) => match.text)).toEqual([
    `needle${'x'.repeat(494)}`,
    `needle!${'😀'.repeat(246)}`,
  ]);
});

test('leaves huge files out by their size', async () => {
  put('huge', 'needle');
  truncateSync(join(root, 'huge'), 1_000_000_000);
  expect(await search('needle')).toEqual({ status: 'ok', matches: [], more: false });
});

test('thousands of files take several rounds and come back in one order', async () => {
  const names = Array.from({ length: 3_000 }, (_, n) => `${String(n).padStart(4, '0')}-${'n'.repeat(60)}`);
  for (const name of names) put(name, 'needle');
  const found = await searchFiles(root, [...names].reverse(), query('needle', { maxMatches: 10_000 }));
  expect(found.status === 'ok' && found.matches.map((match) => match.path)).toEqual(names);
});

test('an invalid pattern is explained in the words of ripgrep', async () => {
  put('a', '');
  const message = 'The pattern is not valid: regex parse error:\n    (?:open()\n    ^\nerror: unclosed group';
  expect(await search('open(')).toEqual({ status: 'failed', reason: 'invalid_input', message });
  expect(await searchFiles(root, [], query('open('))).toEqual({
    status: 'failed',
    reason: 'invalid_input',
    message,
  });
  expect(await search('a\0b')).toMatchObject({ status: 'failed', reason: 'invalid_input' });
  expect(await search('x'.repeat(200_000))).toMatchObject({ status: 'failed', reason: 'invalid_input' });
});

test('settings of the user and the environment do not reach the search', async () => {
  put('.ripgreprc', '--invert-match\n');
  put('a', 'needle\nother\n');
  process.env.RIPGREP_CONFIG_PATH = join(root, '.ripgreprc');
  try {
    expect(await searchFiles(root, ['a'], query('needle'))).toMatchObject({ matches: [{ line: 1 }] });
  } finally {
    delete process.env.RIPGREP_CONFIG_PATH;
  }
});

test('output cut at any byte gives the same matches', async () => {
  const output = Buffer.from(
    `./3\x001:x: y\r\n./4: binary file matches (found "\\0" byte around offset 9)\n./5\x0012:é\n./4\x003:z\n./4: binary file matches (found "\\0" byte around offset 9)\n`,
  );
  const expected = {
    matches: [
      { path: 'a', line: 1, text: 'x: y' },
      { path: 'c\nd', line: 12, text: 'é' },
    ],
    full: false,
  };
  for (let size = 1; size <= output.length; size += 1) {
    const chunks = Array.from({ length: Math.ceil(output.length / size) }, (_, n) =>
      output.subarray(n * size, (n + 1) * size),
    );
    expect(await readMatches(Readable.from(chunks), ['a', 'b', 'c\nd'], 10)).toEqual(expected);
  }
});
