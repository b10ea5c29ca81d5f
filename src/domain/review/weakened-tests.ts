/**
 * Signs that a change makes the tests in a file check less. Found by patterns and not by parsing, so they are reasons to
 * look and no proof: matches in strings count too. Lines that are comments do not.
 */

/** The patterns of tests in a language. */
interface TestDialect {
  /** Matches the path of a test file. */
  readonly file: RegExp;
  /** Matches what skips a test, expects it to fail, or runs nothing else. */
  readonly skip: RegExp;
  /** Matches the beginning of a test. */
  readonly test: RegExp;
  readonly assertion: RegExp;
}

const DIALECTS: readonly TestDialect[] = [
  {
    // vitest, jest, mocha, node:test, ava
    file: /\.[cm]?[jt]sx?$(?<=\.(?:test|spec)\.[^.]*|(?:^|\/)(?:__tests__|tests?|spec)\/.*)/,
    skip: /\b(?:it|test|describe|suite|context|specify|t|this)(?:\.\w{1,20}){0,3}\s*\.\s*(?:skip|only|todo|fails|failing|fixme|skipIf|runIf)\b|\b(?:[xf]it|[xf]describe|xtest|xcontext)(?:\.each\b|\s*\()|[{,]\s*(?:skip|todo|only)\s*:(?!\s*(?:\d|false\b))/g,
    test: /(?<![.\w$])(?:[xf]?it|x?test|specify)(?:\.\w{1,20}){0,3}\s*[(`]/g,
    assertion:
      /\bexpect\w*\s*[.(]|\bassert\w*\s*[.(]|\.should\b|\bt\.(?:is|like|deepEqual|true|false|throws)\s*\(/g,
  },
  {
    // pytest, unittest
    file: /\.py$(?<=(?:^|\/)(?:test_[^/]*|[^/]*_test\.py|conftest\.py)|(?:^|\/)tests?\/.*)/,
    skip: /@(?:\w+\.)*(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure)\b|\bpytest\.mark\.(?:skip|skipif|xfail)\b|\bpytest\.(?:skip|xfail|importorskip)\s*\(|\bskipTest\s*\(|\bSkipTest\b|\b__test__ *= *False\b|\bcollect_ignore\b/g,
    test: /^[ \t]*(?:async[ \t]+)?def[ \t]+test\w*/gm,
    assertion: /^[ \t]*assert\b|\.assert\w+\s*\(|\b(?:pytest\.)?raises\s*\(/gm,
  },
  {
    file: /_test\.go$/,
    skip: /\b[tb]\.(?:Skip|Skipf|SkipNow)\s*\(|^\/\/go:build\b/gm,
    test: /^func[ \t]+(?:Test|Fuzz|Example)\w*|\bt\.Run\s*\(/gm,
    assertion: /\b[tb]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\b(?:assert|require|is)\.\w+\s*\(/g,
  },
  {
    // Tests next to the code are in ordinary files.
    file: /\.rs$/,
    skip: /#\[\s*(?:cfg_attr\([^\]\n]{0,200}\b)?ignore\b|#!\[\s*cfg\s*\(\s*any\s*\(\s*\)\s*\)/g,
    test: /#\[\s*(?:\w{1,40}::)?(?:test|rstest|test_case)\b/g,
    assertion: /\b(?:debug_)?assert(?:_eq|_ne|_matches)?!|#\[\s*should_panic/g,
  },
  {
    file: /(?:Tests?|TestCase|IT|Spec)\.(?:java|kt|kts|groovy|scala)$|(?:^|\/)src\/test\//,
    skip: /@(?:Disabled\w{0,40}|Ignore)\b|\bassume(?:True|False|That)\s*\(|enabled\s*=\s*false/g,
    test: /@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\b/g,
    assertion: /\bassert\w*\s*[({]|\bverify\s*\(|\bshould\w*\b/g,
  },
  {
    // RSpec, minitest
    file: /\.rb$(?<=_(?:spec|test)\.rb|(?:^|\/)(?:spec|test)\/.*)/,
    skip: /^[ \t]*(?:xit|xdescribe|xcontext|xspecify|fit|fdescribe|fcontext|skip|pending)\b|,\s*(?:skip|pending|focus|:skip|:pending|:focus)\b/gm,
    test: /^[ \t]*(?:[xf]?it|specify|test|example)\b|^[ \t]*def[ \t]+test_/gm,
    assertion: /\bexpect\s*[({ ]|\bassert\w*\b|\brefute\w*\b|\.should\b/g,
  },
  {
    file: /Test\.php$/,
    skip: /\bmarkTest(?:Skipped|Incomplete)\s*\(|#\[\s*Ignore\b|@requires\b/g,
    test: /\bfunction[ \t]+test\w*|#\[\s*Test\b|^[ \t]*(?:it|test)\s*\(/gm,
    assertion: /(?:->|::)(?:assert\w+|expect\w*)\s*\(/g,
  },
  {
    // xUnit, NUnit, MSTest
    file: /Tests?\.(?:cs|fs|vb)$/,
    skip: /\[\s*(?:Ignore|Explicit)\b|\bSkip\s*=\s*"/g,
    test: /\[\s*(?:Fact|Theory|Test|TestCase|TestMethod)\b/g,
    assertion: /\bAssert\.\w+|\.Should\w*\(/g,
  },
];

/** Losing fewer assertions is no reason to look. */
const MANY = 3;
const LARGE_PART = 0.25;

/** A file of a known kind that contains tests, so that its loss would be one of tests. */
export function isTestFile(path: string): boolean {
  // Of Rust files, only those that contain nothing but tests.
  return path.endsWith('.rs') ? /(?:^|\/)tests\//.test(path) : dialectOf(path) !== null;
}

/** A file beside tests that they may read: fixtures, snapshots, and settings of their runner. */
export function isTestData(path: string): boolean {
  return /(?:^|\/)(?:__\w+__|tests?|specs?|testdata|fixtures)\/|(?:^|\/)(?:conftest\.py|pytest\.ini|\.mocharc\.\w+|(?:jest|vitest)\.config\.\w+)$/.test(
    path,
  );
}

/** What a change to a test file removes from its tests. */
export interface TestsChange {
  /** Number of skip marks added. */
  readonly skipsAdded: number;
  readonly testsLost: number;
  /** Number of assertions lost, if at least 3 or a quarter of those in the file; otherwise 0. */
  readonly assertionsLost: number;
}

/** Compares two versions of the file; null for a file of unknown kind. */
export function testsChange(path: string, before: string, after: string): TestsChange | null {
  const dialect = dialectOf(path);
  if (dialect === null) return null;
  const [was, is] = [withoutComments(before), withoutComments(after)];
  const had = times(dialect.assertion, was);
  const lost = had - times(dialect.assertion, is);
  return {
    skipsAdded: Math.max(0, times(dialect.skip, is) - times(dialect.skip, was)),
    testsLost: Math.max(0, times(dialect.test, was) - times(dialect.test, is)),
    assertionsLost: lost > 0 && (lost >= MANY || lost / had >= LARGE_PART) ? lost : 0,
  };
}

function dialectOf(path: string): TestDialect | null {
  return DIALECTS.find(({ file }) => file.test(path)) ?? null;
}

/** Commented-out code tests nothing. `#[` is Rust and PHP, `//go:` a directive, and `*` may be the inside of a comment. */
function withoutComments(text: string): string {
  return text.replace(/^[ \t]*(?:\/\/(?!go:)|#(?![[!])|\*).*$/gm, '');
}

function times(pattern: RegExp, text: string): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count += 1;
  return count;
}
