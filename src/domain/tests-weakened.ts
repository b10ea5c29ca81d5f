/**
 * Signs that a change of a test file makes the tests say less. Counted by patterns and not by parsing, so that they are
 * reasons to look and no proof: what stands in comments and strings counts as well.
 */

/** What the tests of a language look like. */
interface TestDialect {
  /** Name of a test file, matched against the whole path. */
  readonly file: RegExp;
  /** Skips a test, expects it to fail, or runs nothing else. */
  readonly skip: RegExp;
  readonly assertion: RegExp;
}

const DIALECTS: readonly TestDialect[] = [
  {
    // vitest, jest, mocha, node:test, ava
    file: /(?:\.(?:test|spec)\.[cm]?[jt]sx?|(?:^|\/)(?:__tests__|tests?|spec)\/.*\.[cm]?[jt]sx?)$/,
    skip: /\b(?:it|test|describe|suite|context|specify|t|this)\s*\.\s*(?:skip|only|todo|fails|failing|skipIf|runIf)\b|\b(?:[xf]it|[xf]describe|xtest|xcontext)\s*\(|[{,]\s*(?:skip|todo|only)\s*:/g,
    assertion:
      /\bexpect\w*\s*[.(]|\bassert\w*\s*[.(]|\.should\b|\bt\.(?:is|like|deepEqual|true|false|throws)\s*\(/g,
  },
  {
    // pytest, unittest
    file: /(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.py$|(?:^|\/)tests?\/.*\.py$/,
    skip: /@(?:\w+\.)*(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure)\b|\bpytest\.(?:skip|xfail|importorskip)\s*\(|\bskipTest\s*\(|\bcollect_ignore\b/g,
    assertion: /^[ \t]*assert\b|\.assert\w+\s*\(|\b(?:pytest\.)?raises\s*\(/gm,
  },
  {
    file: /_test\.go$/,
    skip: /\b[tb]\.(?:Skip|Skipf|SkipNow)\s*\(|^\/\/go:build ignore/gm,
    assertion: /\b[tb]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\b(?:assert|require|is)\.\w+\s*\(/g,
  },
  {
    // Tests beside the code are in files like any other.
    file: /\.rs$/,
    skip: /#\[\s*ignore\b|#!\[\s*cfg\s*\(\s*any\s*\(\s*\)\s*\)/g,
    assertion: /\b(?:debug_)?assert(?:_eq|_ne|_matches)?!|#\[\s*should_panic/g,
  },
  {
    file: /(?:Tests?|TestCase|IT|Spec)\.(?:java|kt|kts|groovy|scala)$|(?:^|\/)src\/test\//,
    skip: /@(?:Disabled|Ignore)\b|\bassume(?:True|False|That)\s*\(|enabled\s*=\s*false/g,
    assertion: /\bassert\w*\s*[({]|\bverify\s*\(|\bshould\w*\b/g,
  },
  {
    // RSpec, minitest
    file: /_(?:spec|test)\.rb$|(?:^|\/)(?:spec|test)\/.*\.rb$/,
    skip: /^[ \t]*(?:xit|xdescribe|xcontext|xspecify|fit|fdescribe|fcontext|skip|pending)\b|,\s*(?:skip|pending|focus|:skip|:focus)\b/gm,
    assertion: /\bexpect\s*[({ ]|\bassert\w*\b|\brefute\w*\b|\.should\b/g,
  },
  {
    file: /Test\.php$/,
    skip: /\bmarkTest(?:Skipped|Incomplete)\s*\(|#\[\s*Ignore\b|@requires\b/g,
    assertion: /(?:->|::)(?:assert\w+|expect\w*)\s*\(/g,
  },
  {
    // xUnit, NUnit, MSTest
    file: /Tests?\.(?:cs|fs|vb)$/,
    skip: /\[\s*(?:Ignore|Explicit)\b|\bSkip\s*=\s*"/g,
    assertion: /\bAssert\.\w+|\.Should\w*\(/g,
  },
];

/** Fewer assertions that are no reason to look. */
const MANY = 3;
const LARGE_PART = 0.25;

/** A file of a known kind that holds tests, and whose loss would be one. */
export function isTestFile(path: string): boolean {
  // Of Rust files only those that hold nothing else.
  return path.endsWith('.rs') ? /(?:^|\/)tests\//.test(path) : dialectOf(path) !== null;
}

/** Marks that the change adds to a test file; 0 for any other file. */
export function skipsAdded(path: string, before: string, after: string): number {
  const dialect = dialectOf(path);
  return dialect ? Math.max(0, times(dialect.skip, after) - times(dialect.skip, before)) : 0;
}

/** Assertions that the change takes away, where they are 3 or a quarter of those in the file; else 0. */
export function assertionsLost(path: string, before: string, after: string): number {
  const dialect = dialectOf(path);
  if (!dialect) return 0;
  const had = times(dialect.assertion, before);
  const lost = had - times(dialect.assertion, after);
  return lost > 0 && (lost >= MANY || lost / had >= LARGE_PART) ? lost : 0;
}

function dialectOf(path: string): TestDialect | null {
  return DIALECTS.find(({ file }) => file.test(path)) ?? null;
}

function times(pattern: RegExp, text: string): number {
  return text.match(pattern)?.length ?? 0;
}
