import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RepoPath } from '../../src/domain/changes/path.ts';
import { readFile, writeFile } from '../../src/files/nofollow-files.ts';

/** Root may read and write everything, and only root can give a file away: such tests run as the one or the other. */
const IS_ROOT = process.getuid?.() === 0;

const failed = (reason: string, message: string) => ({ status: 'failed', reason, message });

let base: string;
let root: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'patchsmith-guarded-')));
  root = join(base, 'repo');
  mkdirSync(root);
  mkdirSync(join(base, 'outside'));
  writeFileSync(join(base, 'outside', 'secret'), 'secret');
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const read = (path: string, maxBytes = 1_000_000) => readFile(root, path as RepoPath, maxBytes);
const write = (path: string, text: string | Buffer) => writeFile(root, path as RepoPath, Buffer.from(text));
const put = (path: string, text: string | Buffer) => writeFileSync(join(root, path), text);
const leftovers = () =>
  readdirSync(root, { recursive: true }).filter((name) => String(name).includes('.tmp'));
const openDescriptors = () => readdirSync('/proc/self/fd').length;

describe('reading', () => {
  test('refuses a second spelling of a name, so that one file has one path', () => {
    put('é', 'text');
    expect(read('\udcc3\udca9')).toMatchObject({ status: 'failed', reason: 'path_refused' });
  });

  test('names the nearest existing names of what is missing', () => {
    mkdirSync(join(root, 'src', 'empty'), { recursive: true });
    for (const name of ['server.ts', 'client.ts', 'README']) put(`src/${name}`, '');
    expect(read('src/sever.ts')).toEqual(
      failed(
        'not_found',
        '"src/sever.ts" does not exist. Nearest names in "src": "server.ts", "client.ts", "README", "empty/".',
      ),
    );
    expect(read('scr/server.ts')).toMatchObject({
      message: '"scr" does not exist. Nearest names in the repository root: "src/".',
    });
    expect(read('src/empty/x')).toMatchObject({
      message: '"src/empty/x" does not exist.',
    });
  });

  test('refuses a huge sparse file by its size, and reads one that is exactly as large as allowed', () => {
    put('sparse', '');
    truncateSync(join(root, 'sparse'), 1_000_000_000);
    put('fits', '12345');
    expect(read('sparse')).toEqual({
      status: 'failed',
      reason: 'too_large',
      beginning: Buffer.alloc(102_400),
      message: '"sparse" has 1,000,000,000 bytes; files over 1,000,000 bytes are not read whole.',
    });
    expect(read('fits', 5)).toMatchObject({ status: 'ok' });
    expect(read('fits', 4)).toMatchObject({ reason: 'too_large' });
  });
});

describe('writing', () => {
  test('makes missing folders and new files as the umask wants them', () => {
    const umask = process.umask(0o027);
    try {
      expect(write('a/b/c.txt', 'text')).toEqual({ status: 'ok', created: true });
    } finally {
      process.umask(umask);
    }
    expect(readFileSync(join(root, 'a/b/c.txt'), 'utf8')).toBe('text');
    expect(statSync(join(root, 'a/b/c.txt')).mode & 0o777).toBe(0o640);
    expect(statSync(join(root, 'a/b')).mode & 0o777).toBe(0o750);
    expect(leftovers()).toEqual([]);
  });

  test('keeps the mode of an existing file, even if the umask forbids it', () => {
    for (const mode of [0o755, 0o600, 0o444, 0o666]) {
      put('file', 'old');
      chmodSync(join(root, 'file'), mode);
      expect(write('file', '')).toEqual({ status: 'ok', created: false });
      expect(statSync(join(root, 'file'))).toMatchObject({ size: 0, mode: 0o100000 | mode });
      rmSync(join(root, 'file'));
    }
  });

  test.skipIf(!IS_ROOT)('as root, leaves a file to its owner', () => {
    put('file', 'old');
    expect(spawnSync('chown', ['1234:2345', join(root, 'file')]).status).toBe(0);
    write('file', 'new');
    expect(statSync(join(root, 'file'))).toMatchObject({ uid: 1234, gid: 2345 });
  });

  test('a full disk is reported as such, and leaves the old file and no temporary one', () => {
    put('old', 'old');
    const source = JSON.stringify(resolve('src/files/nofollow-files.ts'));
    writeFileSync(
      join(base, 'fill.mts'),
      `import { writeFile } from ${source};
         import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
         writeFileSync(process.argv[2] + '/old', 'old');
         const result = writeFile(process.argv[2], 'old', Buffer.alloc(1_000_000));
         const left = readdirSync(process.argv[2]);
         console.log(JSON.stringify({ result, left, old: readFileSync(process.argv[2] + '/old', 'utf8') }));`,
    );
    const small = ['--dev-bind', '/', '/', '--size', '65536', '--tmpfs', join(base, 'outside')];
    const script = [process.execPath, '--import', 'tsx', join(base, 'fill.mts'), join(base, 'outside')];
    const ran = spawnSync('bwrap', [...small, ...script], { encoding: 'utf8' });
    expect(JSON.parse(ran.stdout || ran.stderr)).toEqual({
      result: {
        status: 'failed',
        reason: 'too_large',
        message: '"old" cannot be written: no space is left on the disk (ENOSPC).',
      },
      left: ['old'],
      old: 'old',
    });
  });
});

test('no descriptor stays open, whatever the result', () => {
  put('file', 'x');
  symlinkSync('file', join(root, 'link'));
  const everything = () => {
    for (const path of ['file', 'link', 'missing', 'missing/file', 'file/x', 'link/x', '']) read(path, 10);
    read('file', 0);
    for (const path of ['file', 'link', 'new/file', 'file/x', 'link/x', '']) write(path, 'x');
  };
  everything();
  const before = openDescriptors();
  for (let round = 0; round < 20; round += 1) everything();
  expect(openDescriptors()).toBe(before);
});
