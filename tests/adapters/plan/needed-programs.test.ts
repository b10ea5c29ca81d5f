import { describe, expect, test } from 'vitest';
import { neededPrograms } from '../../../src/adapters/plan/needed-programs.ts';

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
    ['npm start & npx e2e', ['npm', 'npx']],
    ['f() { missing; }; f', []],
  ])('%j: %j', (text, programs) => {
    expect(needed(text)).toEqual(programs);
  });

  test.each([
    ['an expansion', '$RUNNER test; "$X/run"; `which a` b', []],
    ['what a condition may leave out', 'if [ -x gradlew ]; then ./gradlew test; else gradle test; fi', []],
    ['what may be missing', 'eslint . || npx eslint .', []],
    ['what follows a test', 'command -v shellcheck && shellcheck a.sh; npm test', ['command', 'npm']],
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
