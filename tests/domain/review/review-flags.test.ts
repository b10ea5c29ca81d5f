import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { FileMode, FileState } from '../../../src/domain/changes/change.ts';
import { flagsOf } from '../../../src/domain/review/review-flags.ts';
import { STEERING_PATHS } from '../../../src/domain/review/steering-paths.ts';
import { IS_FULL } from '../../support/setup/sample.ts';

const state = (mode: FileMode = '100644'): FileState => ({ mode, blob: mode, size: 1 });

/** The flags of one file that was `before` and is `after`; undefined is absence. */
function flags(
  path: string,
  { before, after }: { before?: string; after?: string },
  [modeBefore, modeAfter]: readonly [FileMode, FileMode] = ['100644', '100644'],
) {
  const file = {
    path,
    before: before === undefined ? null : state(modeBefore),
    after: after === undefined ? null : state(modeAfter),
    textBefore: before ?? '',
    textAfter: after ?? '',
  };
  return flagsOf([file], ['docs/RULES.md']).map(({ flag, detail }) => (detail ? `${flag}: ${detail}` : flag));
}

const touched = (path: string) => flags(path, { before: 'a', after: 'b' });

test('the table of the docs has every path and what it is taken for', () => {
  const rows = readFileSync('docs/patches.md', 'utf8').split('\n');
  const missing = STEERING_PATHS.flatMap(({ flag, globs, protection }) => {
    const row = rows.filter((line) => line.includes(`\`${flag}\``)).join();
    const unnamed = globs.filter((glob) => !row.toLowerCase().includes(`\`${glob}\``));
    return [
      ...unnamed,
      ...(protection !== null && !row.includes(protection === 'draft' ? 'draft' : 'refused') ? [flag] : []),
    ];
  });
  expect(missing).toEqual([]);
});

describe('a path deserves a second look', () => {
  test.each([
    ['.github/workflows/ci.yml', ['workflow']],
    ['.GitHub/Workflows/ci.yml', ['workflow']],
    ['action.yml', ['action']],
    ['.github/CODEOWNERS', ['code_owners']],
    ['CODEOWNERS', ['code_owners']],
    ['AGENTS.md', ['principles']],
    ['docs/RULES.md', ['principles']],
    ['web/pnpm-lock.yaml', ['lock_file']],
    ['.gitattributes', ['git_attributes']],
    ['.patchsmith.yml', ['own_settings']],
    ['.github/patchsmith/plan.md', ['own_settings']],
    ['docs/agents.MD', ['principles']],
    ['.devcontainer/Dockerfile', ['tool_hooks', 'build_files']],
    ['.gitmodules', ['submodules']],
    ['Makefile', ['build_files']],
    ['docker/web.Dockerfile', ['build_files']],
    ['src/makefile.ts', []],
    ['src/claude/x.ts', []],
    ['src/workflows/ci.yml', []],
    ['.github/ISSUE_TEMPLATE.md', []],
    ['docs/agents.md.txt', []],
    ['lib/CODEOWNERS', []],
  ])('%s: %j', (path, expected) => {
    expect(touched(path)).toEqual(expected);
  });

  test.each([
    ['.github/workflows/ci.yml', '.github/ci.yml.off', 'workflow'],
    ['.github/CODEOWNERS', '.github/CODEOWNERS.old', 'code_owners'],
    ['AGENTS.md', 'old.md', 'principles'],
    ['docs/RULES.md', 'docs/rules.txt', 'principles'],
    ['.gitattributes', 'attributes', 'git_attributes'],
    ['a.test.ts', 'a.ts.txt', 'tests_deleted'],
    ['test/a.js', 'lib/a.js', 'tests_deleted'],
  ])('when %s becomes %s', (from, path, flag) => {
    const file = { before: state(), after: state(), textBefore: 'a', textAfter: 'a' };
    expect(flagsOf([{ ...file, path, from }], ['docs/RULES.md'])).toEqual([
      { path, flag, detail: `was ${from}` },
    ]);
    expect(flagsOf([{ ...file, path: 'b.test.ts', from: 'a.test.ts' }], [])).toEqual([]);
  });

  test('when it becomes executable, and not when it was', () => {
    expect(flags('a', { after: '' }, ['100644', '100755'])).toEqual(['executable_added']);
    expect(flags('a', { before: '', after: '' }, ['100644', '100755'])).toEqual(['executable_added']);
    expect(flags('a', { before: '', after: 'x' }, ['100755', '100755'])).toEqual([]);
  });

  test.each([
    ['a', 'b/c', false],
    ['x/a', '../b', false],
    ['x/y/a', '../../b', false],
    ['x/a', '../../b', true],
    ['x/a', 'y/../../../b', true],
    ['a', '/etc/passwd', true],
    ['a', '.git/config', true],
    ['x/a', '../.GIT/hooks', true],
  ])('the link %s → %s leads out: %j', (path, target, isOut) => {
    const found = flags(path, { after: target }, ['100644', '120000']);
    expect(found).toEqual(isOut ? [`link_outside: ${target}`] : []);
  });

  test('when scripts of a package.json change, by their names', () => {
    const before = JSON.stringify({ scripts: { test: 'vitest', build: 'tsc' }, version: '1' });
    const sets: [string, string[]][] = [
      [JSON.stringify({ scripts: { test: 'vitest', build: 'tsc' }, version: '2' }), []],
      [
        JSON.stringify({ scripts: { build: 'tsc', test: 'true', postinstall: 'curl x' } }),
        ['package_scripts: test, postinstall'],
      ],
      ['{', ['package_scripts: cannot be read']],
      ['{}', ['package_scripts: test, build']],
    ];
    for (const [after, expected] of sets)
      expect(flags('a/package.json', { before, after })).toEqual(expected);
    expect(flags('package.json', { after: '{"scripts":{"install":"x"}}' })).toEqual([
      'package_scripts: install',
    ]);
  });
});

describe('tests', () => {
  test.each([
    'a.test.ts',
    'src/__tests__/a.jsx',
    'tests/test_a.py',
    'pkg/a_test.go',
    'tests/a.rs',
    'src/test/java/ATest.java',
    'spec/a_spec.rb',
    'tests/ATest.php',
    'A.Tests/ATests.cs',
  ])('that are deleted are told: %s', (path) => {
    expect(flags(path, { before: '' })).toEqual(['tests_deleted']);
    expect(flags(path, { before: 'x', after: 'y' })).toEqual([]);
  });

  test.each([
    ['a.test.ts', 'test("a", f)', 'test.skip("a", f)'],
    ['a.test.ts', 'it("a", f)', 'it.only("a", f)'],
    ['a.test.ts', 'it("a", f)', 'xit("a", f)'],
    ['a.spec.mjs', 'test("a", f)', 'test("a", { skip: true }, f)'],
    ['a.test.ts', 'test.concurrent("a", f)', 'test.concurrent.skip("a", f)'],
    ['a.test.ts', 'it.each(rows)("a", f)', 'xit.each(rows)("a", f)'],
    ['a.spec.ts', 'test("a", f)', 'test.fixme("a", f)'],
    ['test_a.py', 'def test_a(): f()', 'pytestmark = pytest.mark.skip\ndef test_a(): f()'],
    ['test_a.py', 'def test_a(): f()', 'def test_a(): raise SkipTest()'],
    ['a_test.go', 'package a', '//go:build never\npackage a'],
    ['src/lib.rs', '#[test]\nfn a() {}', '#[test]\n#[cfg_attr(unix, ignore)]\nfn a() {}'],
    ['ATest.java', '@Test void a() {}', '@DisabledIf("x") @Test void a() {}'],
    ['test_a.py', 'def test_a(): f()', '@pytest.mark.xfail\ndef test_a(): f()'],
    ['test_a.py', 'def test_a(): f()', '@unittest.skip("later")\ndef test_a(): f()'],
    ['a_test.go', 'func TestA(t *testing.T) {}', 'func TestA(t *testing.T) { t.Skip() }'],
    ['src/lib.rs', '#[test]\nfn a() {}', '#[test]\n#[ignore]\nfn a() {}'],
    ['ATest.java', '@Test void a() {}', '@Disabled @Test void a() {}'],
    ['a_spec.rb', "it 'a' do", "xit 'a' do"],
    ['ATest.php', 'f();', '$this->markTestSkipped();'],
    ['ATests.cs', '[Fact]', '[Fact(Skip = "later")]'],
  ])('that are skipped are told: %s %s', (path, before, after) => {
    expect(flags(path, { before, after })).toEqual(['tests_skipped: 1 added']);
    expect(flags(path, { before: after, after: before })).toEqual([]);
    expect(flags('notes.md', { before, after })).toEqual([]);
  });

  test('a page that skips entries is not a skipped test', () => {
    const query = 'list({ skip: 10, take: 5 })';
    expect(flags('a.test.ts', { before: 'test("a", f)', after: `test("a", f); ${query}` })).toEqual([]);
  });

  test.each([
    ['a.test.ts', 'test("a", f)'],
    ['a.test.ts', '  it.each(rows)("a", f)'],
    ['a.test.js', 'test.concurrent("a", f)'],
    ['test_a.py', '  async def test_a(self):'],
    ['a_test.go', 'func TestA(t *testing.T) {'],
    ['src/lib.rs', '#[tokio::test]'],
    ['ATest.java', '  @Test'],
    ['a_spec.rb', "  it 'a' do"],
    ['a_test.rb', '  def test_a'],
    ['ATest.php', '  public function testA()'],
    ['ATests.cs', '  [Fact]'],
  ])('of which one is taken out or commented out are told: %s %s', (path, line) => {
    const before = `${line}\n`.repeat(20);
    const mark = /py$|rb$/.test(path) ? '#' : '//';
    const said = ['tests_weakened: tests: 1 gone'];
    expect(flags(path, { before, after: `${line}\n`.repeat(19) })).toEqual(said);
    expect(flags(path, { before, after: before.replace(line, `  ${mark} ${line}`) })).toEqual(said);
    expect(flags(path, { before, after: `${before}${line}\n` })).toEqual([]);
  });

  const lines = (line: string, count: number) => `${line}\n`.repeat(count);

  test.each([
    ['a.test.ts', '  expect(a).toBe(1);'],
    ['a.test.js', '  assert.equal(a, 1);'],
    ['test_a.py', '    assert a == 1'],
    ['test_a.py', '    self.assertEqual(a, 1)'],
    ['a_test.go', '  t.Fatalf("a")'],
    ['src/lib.rs', '    assert_eq!(a, 1);'],
    ['ATest.java', '    assertEquals(1, a);'],
    ['a_spec.rb', '  expect(a).to eq 1'],
    ['ATest.php', '  $this->assertSame(1, $a);'],
    ['ATests.cs', '  Assert.Equal(1, a);'],
  ])('that lose many assertions, or a large part of them, are told: %s %s', (path, line) => {
    const weakened = (had: number, has: number) =>
      flags(path, { before: lines(line, had), after: lines(line, has) });
    expect(weakened(20, 17)).toEqual(['tests_weakened: assertions: 3 gone']);
    expect(weakened(4, 3)).toEqual(['tests_weakened: assertions: 1 gone']);
    expect(weakened(20, 18)).toEqual([]);
    expect(weakened(3, 9)).toEqual([]);
  });
});

test('a hostile text of any kind is looked through in time that grows no faster than the text', () => {
  const units = [
    '\n',
    ' ',
    '\t',
    ',',
    '{',
    '@a.',
    '#[',
    'it.',
    'expect',
    'assert ',
    'enabled ',
    '// ',
    '/* ',
  ];
  const files = [
    'a.test.ts',
    'test_a.py',
    'a_test.go',
    'a.rs',
    'ATest.java',
    'a_spec.rb',
    'ATest.php',
    'ATests.cs',
  ];
  const pairs = units.flatMap((unit, at) =>
    files.map((path, of) => ({ unit, path, at: (at + of) % files.length })),
  );
  for (const { path, unit } of IS_FULL ? pairs : pairs.filter(({ at }) => at === 0)) {
    const text = unit.repeat(200_000);
    expect(flags(path, { before: text, after: text }), `${path} of ${unit}`).toEqual([]);
  }
});
