/** dist/rg/NOTICES.txt against the programs that it is about. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const notices = readFileSync('dist/rg/NOTICES.txt', 'utf8');
const [head = '', ...licences] = notices.split(/^-+\n\nLicence: /m);
const components = [...head.matchAll(/^(\S+(?: \S+)*) {2,}(\S+(?: \S+)*) {2,}(\S.*?) {2,}\S/gm)].map(
  ([, name = '', version = '', licence = '']) => ({ name, version, licence }),
);

test('the notices are about the versions that the binary says it has', () => {
  const said = execFileSync(`dist/rg/linux-${process.arch}/rg`, ['--version'], { encoding: 'utf8' });
  const [, ripgrep] = /^(ripgrep .*)$/m.exec(said) ?? [];
  const [, pcre2] = /^(PCRE2 \S+)/m.exec(said) ?? [];
  expect(head).toContain(`\n${ripgrep} with ${pcre2}, `);
  for (const named of [ripgrep, pcre2]) {
    const [name, version] = named?.split(' ') ?? [];
    expect(components).toContainEqual(expect.objectContaining({ name, version }));
  }
});

test.each(['linux-x64', 'linux-arm64'])(
  'every library that leaves its name in %s is in the notices',
  (platform) => {
    const { version } = JSON.parse(readFileSync('dist/rg/sources.json', 'utf8'))[platform];
    expect(head).toContain(`@vscode/ripgrep-${platform}`);
    expect(head).toContain(` ${version} carry it`);
    // Messages of panics name the source file, with the crate and its version in the path.
    const binary = readFileSync(`dist/rg/${platform}/rg`, 'latin1');
    const crates = new Set(binary.match(/[a-z][\w-]*-\d+\.\d+\.\d+(?=[^/\0]*\/src\/)/g));
    expect(crates.size).toBeGreaterThan(15);
    const listed = components.map(({ name, version }) => `${name}-${version}`);
    expect([...crates].filter((crate) => !listed.includes(crate))).toEqual([]);
  },
);

test('the text of every licence is there, and none that nothing is under', () => {
  const named = components.flatMap(({ licence }) => licence.split(', '));
  const texts = licences.map((text) => text.slice(0, text.indexOf('\n')));
  expect([...new Set(named)].sort()).toEqual(['licence', ...texts].sort());
  for (const text of licences) expect(text).toContain('AS IS');
});
