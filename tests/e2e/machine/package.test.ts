/** What `npm pack` makes: its size, what comes with it, and that it runs from an empty folder. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../support/files/temp-folder.ts';

const MIB = 2 ** 20;

test('the package stays within its budget of bytes, files and dependencies, and runs where nothing else is', () => {
  const folder = tempFolder();
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const [{ filename, size, unpackedSize, entryCount, files }] = JSON.parse(
    execFileSync('npm', pack, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  expect(size).toBeLessThan(2 * MIB);
  expect(unpackedSize).toBeLessThan(7.5 * MIB);
  expect(entryCount).toBeLessThan(250);
  const paths = files.map(({ path }: { path: string }) => path);
  expect(paths).toEqual(expect.arrayContaining(['dist/cli.js', 'dist/library.js', 'README.md', 'LICENSE']));
  expect(
    paths.filter((path: string) => /^(?:src|tests|bench|scripts)\/|^(?:dist\/)?action|\.map$/.test(path)),
  ).toEqual([]);

  // All that an installation brings along: ripgrep, and its program for this machine.
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const installed = Object.entries<{ dev?: boolean; peer?: boolean; devOptional?: boolean }>(packages)
    .filter(([path, { dev, peer, devOptional }]) => path !== '' && !dev && !peer && !devOptional)
    .map(([path]) => path);
  expect(installed.filter((path) => !path.startsWith('node_modules/@vscode/ripgrep'))).toEqual([]);

  const home = join(folder, 'node_modules/patchsmith');
  mkdirSync(home, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', home]);
  symlinkSync(resolve('node_modules/@vscode'), join(folder, 'node_modules/@vscode'));
  const env = { PATH: process.env.PATH, HOME: folder };
  const version = execFileSync(process.execPath, [join(home, 'dist/cli.js'), '--version'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  expect(version.trim()).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
});
