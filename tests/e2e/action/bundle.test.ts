import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { expect, test } from 'vitest';

interface Source {
  readonly package: string;
  readonly version: string;
  readonly integrity: string;
  readonly sha256: string;
}

test.each(['linux-x64', 'linux-arm64'])(
  'the ripgrep of %s comes from the package that the lock file pins',
  (platform) => {
    const sources: Record<string, Source> = JSON.parse(readFileSync('dist/rg/sources.json', 'utf8'));
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    const { version, integrity } = lock.packages[`node_modules/@vscode/ripgrep-${platform}`];
    const binary = join('dist', 'rg', platform, 'rg');
    expect(sources[platform]).toEqual({
      package: `@vscode/ripgrep-${platform}`,
      version,
      integrity,
      sha256: createHash('sha256').update(readFileSync(binary)).digest('hex'),
    });
    expect((statSync(binary).mode & 0o111) !== 0).toBe(true);
  },
);

test('the ripgrep of this machine is the installed one, byte for byte', () => {
  const beside = join('dist', 'rg', `linux-${process.arch}`, 'rg');
  expect(readFileSync(beside).equals(readFileSync(rgPath))).toBe(true);
});

// They were built before the first test.
test('the bundle as committed is what the sources make, byte for byte', () => {
  const stale = ['action.js', 'action-post.js', 'action.licenses.txt', 'documents.js'].filter((name) => {
    const committed = execFileSync('git', ['-c', 'safe.directory=*', 'show', `:dist/${name}`], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return !committed.equals(readFileSync(join('dist', name)));
  });
  expect(stale, 'npm run build && git add dist').toEqual([]);
});
