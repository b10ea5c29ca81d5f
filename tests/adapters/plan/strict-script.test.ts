import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { strictScript } from '../../../src/adapters/plan/strict-script.ts';

const runs = (script: string) => spawnSync('bash', ['-eo', 'pipefail', '-c', script]).status;

describe('a script that continues after a list whose left side failed', () => {
  test.each([
    'false && true\necho on',
    'false && true; echo on',
    'true && false && true # why\necho on',
    'false || false && true\necho on',
    'false && cat <<E\na && b\nE\necho on',
    'false && { cat <<E; }\na && b\nE\necho on',
    'if true; then false && true; fi; echo on',
    'if false; then :; elif true; then false && true; else :; fi\necho on',
    'case x in x) false && true ;; esac; echo on',
    'for x in 1 2; do [ $x = 2 ] || { false && true; }; false && true; done; echo on',
    'for x in 1 2; do cd "$x" && true; cd / && true; done',
    '{ false && true; }; echo on',
    'f() { false && true; echo on; }; f',
    '(false && true; echo on)',
    '{ false && true; echo on; } | cat',
    'true && { false && true; echo on; }',
    'false && true; echo "exit code $?"',
    'false && [ -f / ] && true; echo on',
    'true && false&&[[ -d / ]]&&true; echo on',
    'false&&! false && true; echo on',
    'true && false && [ -d / ] && true\necho on',
    'false && # why && how\n[ -d / ] && true\necho on',
    'false <<E && [ -d / ] && cat <<F\na && b\nE\nc\nF\necho on',
    'true && [ -d / ] && { false && true; echo on; }; echo on',
    '[ -d / ] && false && true; echo on',
    '[ -d / ] && [[ -d / ]] && false && true\necho on',
    '[ -d / ] && false <<E && # why\nx\nE\ncat <<F\na && b\nF\necho on',
    '[ -d / ] && true && [ -d / ] && false && true; echo on',
    'true && [ -d / ] && false && [ -d / ] && true; echo on',
    '! true; echo on',
    '! echo x | grep -q x\necho on',
    'for x in 1 2; do ! [ $x = 1 ]; done; echo on',
    'f() { ! true; echo on; }; f',
  ])('fails with its exit code: %j', (script) => {
    expect([runs(script), runs(strictScript(script))]).toEqual([0, 1]);
    expect(strictScript(script).split('\n')).toHaveLength(script.split('\n').length);
  });

  test('keeps the exit code', () => {
    expect(runs(strictScript('(exit 127) && true\ntrue'))).toBe(127);
  });
});

test.each([
  ['f() { [ -d / ] && false && true; echo in; }; if f; then echo yes; fi', 0],
  ['[ -d / ] && { true && [ -f /none ] && true; }; echo on', 0],
  ['true && [ -d / ] && echo b; echo on', 0],
  ['f() { false && [ -d / ] && echo b; echo on; }; if f; then echo yes; fi', 0],
  ['f() { true && [ -f /none ] && echo b; }; f || echo no', 0],
  ['! false; echo on', 0],
  ['is_clean() { ! true; }; if is_clean; then echo yes; fi; echo on', 0],
])('a script that overlooks nothing does the same: %j', (script, code) => {
  const [plain, strict] = [script, strictScript(script)].map((text) => {
    const { status, stdout } = spawnSync('bash', ['-eo', 'pipefail', '-c', text], { encoding: 'utf8' });
    return { status, stdout };
  });
  expect(strictScript(script)).not.toBe(script);
  expect(strict).toEqual(plain);
  expect(strict?.status).toBe(code);
});

test.each([
  'cd a && npm test',
  'npm test',
  '[ -f x ] && rm x\nnpm test',
  '[[ -f x ]] && rm x\nnpm test',
  '(( 1 > 2 )) && rm x\nnpm test',
  'test -f x && rm x; npm test',
  '! test -f x && rm x; npm test',
  'command -v make >/dev/null && make; npm test',
  'grep -q a x && rm x; npm test',
  'cat x | grep -qi a && rm x; npm test',
  'git diff --quiet && rm x; npm test',
  'a && b || c; npm test',
  'a && b; code=$?; npm test',
  'a && b; if [ $? = 3 ]; then c; fi; npm test',
  '! a',
  'while ! a; do b; done; npm test',
  'if ! a; then b; fi; npm test',
  'a && b & npm test',
  'if a && b; then c; fi; npm test',
  '(npm run lint && npm test)',
  'echo "a && b"; npm test',
  'cat <<E\na && b\nE\nnpm test',
  'a && b; if',
])('what overlooks nothing, or means to, stays as it is: %j', (script) => {
  expect(strictScript(script)).toBe(script);
});

test('a shell without bash takes the check as well', () => {
  const script = strictScript('false && true\necho on');
  expect(() => execFileSync('sh', ['-ec', script], { stdio: 'ignore' })).toThrow();
});

test('a list fails if and only if one of its commands fails that is no test, whatever the order', () => {
  const leaves = ['true', 'false', '[ -d / ]', '[[ -f /none ]]'];
  const lists = [1, 2, 3].reduce<string[][]>(
    (all) => [...all, ...all.flatMap((list) => leaves.map((leaf) => [...list, leaf]))],
    leaves.map((leaf) => [leaf]),
  );
  const wanted = lists.map((list) => {
    // The last one counts whatever it is, as it does for bash.
    const stop = list.findIndex((leaf) => leaf === 'false' || leaf === '[[ -f /none ]]');
    const isFine = stop === -1 || (list[stop] !== 'false' && stop < list.length - 1);
    return isFine ? 'on 0' : '1';
  });
  const script = lists.map(
    (list) => `( set -e; ${strictScript(`${list.join(' && ')}; printf 'on '`)} ); echo $?`,
  );
  const { stdout } = spawnSync('bash', ['-c', script.join('\n')], { encoding: 'utf8' });
  expect(stdout.trim().split('\n')).toEqual(wanted);
});
