/** scripts/release.mjs and scripts/pin.mjs, in a small repository of their own. */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { git, tempFolder } from './support/files/temp-folder.ts';

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n## [1.2.3] - 2026-01-31\n\n### Fixed\n\n- It works.\n\n## 1.2.2\n\nOld.\n\n## 2.0.0-rc.1\n\nNew.\n';

const CALLED = '.github/workflows/patchsmith.yml';

/** A repository with a package of this version, its changes and its bundle, committed, and a workflow that uses that commit. */
function project(version: string): string {
  const folder = tempFolder({
    'package.json': JSON.stringify({
      name: 'sample',
      version,
      repository: { type: 'git', url: 'git+https://github.com/octo/sample.git' },
      files: ['dist/cli.js'],
      scripts: { prepack: 'exit 1' },
    }),
    'CHANGELOG.md': CHANGELOG,
    'dist/cli.js': 'built\n',
    'dist/action.js': 'bundle\n',
    '.gitignore': 'dist/cli.js\n',
    [CALLED]: readFileSync(CALLED, 'utf8'),
  });
  git(folder, 'init', '--quiet');
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', 'all');
  git(folder, 'remote', 'add', 'origin', 'https://github.com/octo/sample.git');
  pin(folder);
  git(folder, 'commit', '--quiet', '--all', '--message', 'pin');
  return folder;
}

function pin(folder: string, ...flags: string[]): string {
  const ended = spawnSync(process.execPath, [resolve('scripts/pin.mjs'), ...flags], { cwd: folder });
  expect([ended.status, String(ended.stderr)]).toEqual([0, '']);
  return readFileSync(join(folder, CALLED), 'utf8');
}

function release(folder: string, repository = 'octo/sample') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve('scripts/release.mjs'), 'out'], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder, GITHUB_REPOSITORY: repository },
  });
  return { status, stdout, stderr };
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

test('a release is the packed tarball, checksums of it and of the committed bundle, and the notes of its version', () => {
  const folder = project('1.2.3');
  expect(release(folder)).toEqual({
    status: 0,
    stderr: '',
    stdout: 'version=1.2.3\nmajor-tag=v1\nnpm-tag=latest\n',
  });
  const out = join(folder, 'out');
  expect(readdirSync(out).sort()).toEqual(['SHA256SUMS', 'notes.md', 'sample-1.2.3.tgz']);
  expect(readFileSync(join(out, 'notes.md'), 'utf8')).toBe('### Fixed\n\n- It works.\n');
  expect(readFileSync(join(out, 'SHA256SUMS'), 'utf8')).toBe(
    `${sha256(join(out, 'sample-1.2.3.tgz'))}  sample-1.2.3.tgz\n` +
      `${sha256(join(folder, 'dist/action.js'))}  dist/action.js\n`,
  );
});

test('a prerelease moves neither the tag of its major version nor the default of npm', () => {
  expect(release(project('2.0.0-rc.1')).stdout).toBe('version=2.0.0-rc.1\nmajor-tag=\nnpm-tag=next\n');
});

test.each([
  [
    'a version that has no notes',
    '1.2.4',
    'octo/sample',
    'CHANGELOG.md has no section "## 1.2.4", or it is empty\n',
  ],
  [
    'what is not a version',
    '1.2',
    'octo/sample',
    'package.json: 1.2 is not a version such as 1.2.3 or 1.2.3-rc.1\n',
  ],
  [
    'a repository that package.json does not name',
    '1.2.3',
    'someone/fork',
    'package.json: repository.url is git+https://github.com/octo/sample.git, but this is someone/fork\n',
  ],
])('%s is refused', (_, version, repository, stderr) => {
  expect(release(project(version), repository)).toEqual({ status: 1, stdout: '', stderr });
});

test('a version that is already tagged is refused', () => {
  const folder = project('1.2.3');
  git(folder, 'tag', 'v1.2.3');
  expect(release(folder)).toEqual({ status: 1, stdout: '', stderr: 'the tag v1.2.3 already exists\n' });
});

test('a workflow that uses the action of other sources is refused', () => {
  const folder = project('1.2.3');
  const stderr = `${CALLED} has to use octo/sample at a commit from which only this file differs: npm run pin, and commit\n`;
  git(folder, 'remote', 'set-url', 'origin', 'git@ghes.example:corp/mirror.git');
  const mirrored = pin(folder);
  expect(mirrored.match(/uses: corp\/mirror@[0-9a-f]{40} # the parent commit/g)).toHaveLength(3);
  git(folder, 'commit', '--quiet', '--all', '--message', 'pin');
  expect(release(folder)).toEqual({ status: 1, stdout: '', stderr });
  git(folder, 'reset', '--quiet', '--hard', 'HEAD^');
  git(folder, 'rm', '--quiet', 'dist/action.js');
  git(folder, 'commit', '--quiet', '--message', 'more');
  expect(release(folder)).toEqual({ status: 1, stdout: '', stderr });
});
