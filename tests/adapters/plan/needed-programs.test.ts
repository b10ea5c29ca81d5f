import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { folderAtEnd, neededPrograms } from '../../../src/adapters/plan/needed-programs.ts';
import { removeFolders, temporaryFolder } from '../../support/files/repository.ts';

/** `folder:name`, without the folder where the script begins. */
function needed(text: string): string[] {
  return neededPrograms(text).map(({ name, folder }) => (folder === '.' ? name : `${folder}:${name}`));
}

describe('the programs that a command needs', () => {
  test.each([
    ['npm test', ['npm']],
    ['"npm" test; n\\pm run lint', ['npm', 'npm']],
    ['a && b | c', ['a', 'b', 'c']],
    ['a\nb # c\n', ['a', 'b']],
    ['CI=1 npm test > log 2>&1', ['npm']],
    ['! nmp test', ['nmp']],
    ['time nmp test', ['nmp']],
    ['env CI=1 nmp test', ['nmp']],
    ['exec nmp test', ['nmp']],
    ['(a; b) && { c; }', ['a', 'b', 'c']],
    ['for f in *.sh; do shellcheck "$f"; done', ['shellcheck']],
    ['./gradlew test', ['./gradlew']],
    ['set -x; cd sub && ./run.sh', ['set', 'cd', './sub:./run.sh']],
    ['(cd sub && a); ./b', ['cd', './sub:a']],
    ['npm start & npx e2e', ['npx']],
    ['if [ -f a ]; then echo a; fi; npm test', ['npm']],
    ['[ -f a ] || exit 1; npm test', ['npm']],
    ["set +x; trap 'rm -f a' EXIT; npm test", ['set', 'trap', 'npm']],
    ['f() { missing; }; f', []],
  ])('%j: %j', (text, programs) => {
    expect(needed(text)).toEqual(programs);
  });

  test.each([
    ['an expansion', '$RUNNER test; "$X/run"; `which a` b', []],
    ['what a condition may leave out', 'if [ -x gradlew ]; then ./gradlew test; else gradle test; fi', []],
    ['what may be missing', 'eslint . || npx eslint .', []],
    ['what follows a test', 'command -v shellcheck && shellcheck a.sh', ['command']],
    ['what follows a test of a file', '[ -f a ] && b', ['[']],
    ['another PATH', 'PATH=bin:$PATH tool; export PATH=$PWD/bin:$PATH; other', ['export']],
    ['what a sourced file defines', '. env.sh; tool', ['.']],
    ['what was installed', 'pip install pytest && pytest', ['pip']],
    ['what a program before it may have made', 'make out && ./out/test', ['make']],
    ['a folder that depends on what runs', 'cd "$DIR" && ./test', ['cd']],
    ['the home folder', '~/bin/tool', []],
    ['what the shell cannot read', 'npm test; (', []],
  ])('leave out %s: %j', (_, text, programs) => {
    expect(needed(text)).toEqual(programs);
  });
});

describe('which programs are needed and which are not, as bash sees it', () => {
  const folder = temporaryFolder();
  afterAll(removeFolders);

  function exitCode(text: string): number | null {
    return spawnSync('bash', ['-eo', 'pipefail', '-c', text], { cwd: folder, stdio: 'ignore' }).status;
  }

  test.each([
    'missing && true; true',
    'true && missing info >/dev/null 2>&1 && missing up; true',
    '{ missing && true; }; true',
    'missing & true',
    'for f in $(true); do missing "$f"; done',
    'for f in "$@"; do missing "$f"; done',
    'for f; do missing "$f"; done',
    'for f in a b; do [ "$f" = c ] || continue; missing; done',
    'for ((i = 0; i < 0; i++)); do missing; done',
    '[ -f missing ] || exit 0; missing',
    'if [ ! -f missing ]; then exit; fi; missing',
    'skip() { exit 0; }; command -v missing || skip; missing',
    '[ -x missing ] || exec true; missing',
    'set +e; missing; true',
    'set +o errexit; missing; true',
    'trap "exit 0" ERR; missing',
    'if ! command -v missing; then missing() { :; }; fi; missing',
    'command -v missing || missing() { :; }; missing',
    'fill() { missing() { :; }; }; fill; missing',
    'if true; then PATH=$PWD/bin:$PATH; fi; missing',
    'if true; then export PATH="$PWD/bin:$PATH"; fi; missing',
    'export PATH+=":$PWD/bin"; missing',
    'use() { export PATH="$PWD/bin:$PATH"; }; use; missing',
    'while [ -d bin ]; do cd bin; done; ./missing',
  ])('not: %j', (text) => {
    const found = needed(text);
    expect([exitCode(text), found.filter((name) => name.endsWith('missing'))]).toEqual([0, []]);
  });

  test.each([
    'missing',
    '(missing && true); true',
    'for f in a "$@"; do missing; done; true',
    'true && missing',
    '{ true; missing; } | cat',
    'if true; then false || true; fi; missing',
  ])('it is: %j', (text) => {
    expect([exitCode(text), needed(text).includes('missing')]).toEqual([127, true]);
  });

  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/missing'), '#!/bin/sh\n', { mode: 0o755 });
});

test.each([
  ['npm test', '.'],
  ['cd web && npm test', './web'],
  ['cd web && { test -d node_modules || npm ci; }', './web'],
  ['(cd web && npm test)', '.'],
  ['cd "$PLACE" && npm test', '.'],
  ['cd web &&', '.'],
])('%j ends in the folder %s', (text, folder) => {
  expect(folderAtEnd(text)).toBe(folder);
});
