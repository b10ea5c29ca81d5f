import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writePatch } from '../../../src/adapters/storage/patch-file.ts';
import { makePipe, tempFolder } from '../../support/files/temp-folder.ts';

const bytes = new Uint8Array([0xff, 0x0a, 0x00]);
const publish = (path: string, content = bytes) => writePatch(path, { bytes: content });

test('writes exactly these bytes, also over an older patch, and nothing else', () => {
  const folder = tempFolder({ 'x.patch': 'older and longer' });
  expect(publish(join(folder, 'x.patch'))).toBeNull();
  expect(new Uint8Array(readFileSync(join(folder, 'x.patch')))).toEqual(bytes);
  expect(publish(join(folder, 'empty.patch'), new Uint8Array())).toBeNull();
  expect(readFileSync(join(folder, 'empty.patch'))).toHaveLength(0);
  expect(readdirSync(folder)).toEqual(['empty.patch', 'x.patch']);
});

test('a missing folder is a reason that names the path', () => {
  const path = join(tempFolder(), 'missing', 'x.patch');
  expect(publish(path)).toBe(
    `The patch cannot be written to ${path}: there is no folder ${join(path, '..')}.`,
  );
});

test('a folder, a link, a pipe and a device stay what they are', () => {
  const folder = tempFolder({ 'target.txt': 'precious' });
  mkdirSync(join(folder, 'folder'));
  symlinkSync('target.txt', join(folder, 'link'));
  makePipe(join(folder, 'pipe'));
  for (const path of ['folder', 'link', 'pipe'].map((name) => join(folder, name)).concat('/dev/null')) {
    expect(publish(path)).toContain(
      // To a plain user the folder of devices is closed, too.
      path === '/dev/null' && process.getuid?.() !== 0
        ? 'The patch cannot be written to /dev/null: '
        : `The patch cannot be written to ${path}: it is not a regular file.`,
    );
  }
  expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true);
  expect(readlinkSync(join(folder, 'link'))).toBe('target.txt');
  expect(readdirSync(folder)).toEqual(['folder', 'link', 'pipe', 'target.txt']);
});

test('a link planted in the place of the temporary file is not followed', () => {
  const folder = tempFolder({ 'target.txt': 'precious' });
  symlinkSync('target.txt', join(folder, `x.patch.${process.pid}.new`));
  expect(publish(join(folder, 'x.patch'))).toBeNull();
  expect(readFileSync(join(folder, 'target.txt'), 'utf8')).toBe('precious');
  writeFileSync(join(folder, 'target.txt'), '');
  expect(readdirSync(folder)).toEqual(['target.txt', 'x.patch']);
});
