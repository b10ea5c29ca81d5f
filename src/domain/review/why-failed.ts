/** Which line of a failed command's output says why: each test runner and compiler has a form for it. */

import { type Excerpt, excerptLines } from '../conversation/excerpt.ts';
import { shortened, withoutTail } from '../text/shorten.ts';
import { MAX_SIGN_CHARS, missingProgram } from './denial-signs.ts';

/**
 * What failed first and why, in one line such as `sum › adds: expected 3, got -1`; null if no line of the output is known to say
 * it. Tested on what the runners of `FORMS` print.
 */
export function whyFailed(output: Excerpt): string | null {
  const lines = excerptLines(output).map((line) => (line.length > MAX_SIGN_CHARS ? '' : line.trimEnd()));
  const inLines = (pattern: RegExp) => firstOf(lines, (line) => groupOf(pattern.exec(line)));
  const why =
    firstOf(FORMS, (form) => failureIn(lines, form)) ??
    firstOf(NAMES_ALONE, inLines) ??
    missingProgram(lines.join('\n'))?.line ??
    firstOf(MESSAGES, inLines);
  return why && shortened(why.replace(/\s+/g, ' '), MAX_WHY);
}

const MAX_WHY = 300;

/** The line that names a test, and the first one below it that says why it failed; the group of each is the part to show. */
interface Form {
  readonly names: RegExp;
  readonly says: RegExp;
}

const FORMS: readonly Form[] = [
  // TAP of node --test; `|-` begins a text on the lines below.
  {
    names: /^\s*not ok \d+ (?:- )?(?!.*# (?:skip|todo)\b)(\S.*)$/i,
    says: /^\s+(?:error|message): (?:[|>]-?()|'(.+)'|"(.+)"|([^\s'"|>].*))$/,
  },
  // tap
  { names: /^\s*# Subtest: (.+)$/, says: /^\s+not ok \d+ - (.+)$/ },
  // node --test --test-reporter=spec
  { names: /^\s*✖ (.+) \([\d.]+ms\)$/, says: /^\s+(?!at |✖ )(\S.*)$/ },
  // vitest
  { names: /^ FAIL {2}(\S.*)$/, says: /^([\w.]*Error\b.*)$/ },
  // jest
  { names: /^ {2}● (.+ › .+|Test suite failed to run)$/, says: /^ {4}(\S.*)$/ },
  // ava
  { names: /^ {2}(\S+\.[cm]?[jt]sx?:\d+)$/, says: /^ {2}(\w.*:)$/ },
  // pytest
  { names: /^_{3,} (\S.*) _{3,}$/, says: /^E {3,}(\S.*)$/ },
  // unittest
  { names: /^(?:FAIL|ERROR): (\S.*)$/, says: /^(\w[\w.]*(?:Error|Exception)\b.*)$/ },
  // go test
  { names: /^\s*--- FAIL: (\S+) \(/, says: /^\s+(\w\S*\.go:\d+: .+)$/ },
  { names: /^--- FAIL: (\S+) \(/, says: /^(panic: .+)$/ },
  // cargo test
  { names: /^thread '(.+)' (?:\(\d+\) )?panicked at /, says: /^(\S.*)$/ },
  // rspec
  { names: /^ {2}\d+\) (.+)$/, says: /^ {5}([A-Z][\w:]*Error:)$/ },
  { names: /^ {2}\d+\) (.+)$/, says: /^ {5}Failure\/Error: (.+)$/ },
  // mocha
  { names: /^ {7,}(\S.*):$/, says: /^ {5,6}([\w.]*(?:Error|Exception)\b.*)$/ },
];

/** Names that come without a reason, or have it in the same line: of TAP, pytest --tb=no, ava and go test -v. */
const NAMES_ALONE: readonly RegExp[] = [
  // Of a file that could not be loaded, a message of Node.js says more than its name.
  /^\s*not ok \d+ (?:- )?(?!.*(?:# (?:skip|todo)\b|\.[cm]?[jt]sx?$))(\S.*)$/i,
  /^(?:FAILED|ERROR) (\S+ - .+)$/,
  /^\s*✘ \[fail\]: (.+)$/,
  /^\s*--- FAIL: (\S+) \(/,
];

/** Of compilers, interpreters, npm and make; the last is true of whatever make has started. */
const MESSAGES: readonly RegExp[] = [
  /^(?!make)(\S+:\d+(?::\d+)?: (?:fatal )?error: .+)$/i,
  /^(\S+\(\d+,\d+\): error .+)$/,
  /^(\S+\.go:\d+:\d+: .+)$/,
  /^(error\[\w+\]: .+)$/,
  /^(?:# )?(?:\s?Exception during run: |Uncaught )?(\w[\w.]*(?:Error|Exception)(?: \[\w+\])?: .+|Error: .+)$/,
  // Ruby
  /^(\S.* \(\w+Error\))$/,
  /^npm (?:error|ERR!) ((?!code |path |errno |syscall |Lifecycle |A complete log).+)$/,
  /^((?:error|fatal|panic): .+)$/,
  /^(make(?:\[\d+\])?: \*\*\* .+)$/,
];

/** What only counts other failures, or says that there was one. */
const VAGUE = /^'?(?:test failed|\d+ subtests? failed)'?$/;

function failureIn(lines: readonly string[], { names, says }: Form): string | null {
  for (const [at, line] of lines.entries()) {
    const name = groupOf(names.exec(line));
    if (name === null) continue;
    const below = lines.slice(at + 1, at + 1 + MAX_BELOW);
    const end = below.findIndex((one) => names.test(one));
    const own = end === -1 ? below : below.slice(0, end);
    const reasonAt = own.findIndex((one) => says.test(one));
    if (reasonAt === -1) continue;
    const reason = reasonOf(groupOf(says.exec(own[reasonAt] ?? '')) ?? '', own.slice(reasonAt + 1));
    if (!VAGUE.test(reason)) return `${withoutTail(name, ':')}: ${reason}`;
  }
  return null;
}

/** How far below a name its reason may be: further than a traceback of some frames. */
const MAX_BELOW = 60;

/** A reason with what belongs to it: the lines after a colon, and the values that were compared. */
function reasonOf(first: string, below: readonly string[]): string {
  const rest = below.filter((line) => line.trim() !== '').slice(0, 6);
  let reason = first;
  while (reason === '' || reason.endsWith(':')) {
    const next = rest.shift();
    if (next === undefined) break;
    reason = `${reason} ${next.trim()}`.trim();
  }
  const values = rest.filter((line) => COMPARED.test(line)).map((line) => line.trim());
  return [reason, ...values].join(', ');
}

const COMPARED = /^(?: {2}\+ \S|\s*(?:expected|received|actual|got|left|right|\w+Error):)/i;

/** The group of the alternative that matched. */
function groupOf(found: RegExpExecArray | null): string | null {
  return found?.slice(1).find((group) => group !== undefined) ?? null;
}

function firstOf<Item>(items: readonly Item[], find: (item: Item) => string | null): string | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}
