import { describe, expect, test } from 'vitest';
import type { CommandReport } from '../../../src/domain/run/events.ts';
import { failuresIn, judgeReports } from '../../../src/domain/run/verify-baseline.ts';
import { commandEnd } from '../../support/runs/events.ts';

const report = (output: string, exitCode = 1, command = 'npm test'): CommandReport => ({
  command,
  end: commandEnd(exitCode),
  output,
});

/** What the judgement calls a command that ended like this after having ended like that. */
function judged(before: CommandReport | null, after: CommandReport): 'passed' | 'failed' | 'preexisting' {
  const { failed, preexisting } = judgeReports([after], before && [before]);
  expect(failed.length + preexisting.length).toBeLessThanOrEqual(1);
  if (preexisting.length > 0) return 'preexisting';
  return failed.length > 0 ? 'failed' : 'passed';
}

describe('a verify command that fails', () => {
  test('fails when no one looked before the work, and when it passed then', () => {
    expect(judged(null, report('x'))).toBe('failed');
    expect(judged(report('', 0), report('x'))).toBe('failed');
    expect(judged(report('x', 1, 'npm run lint'), report('x'))).toBe('failed');
    expect(judged(report('x'), report('', 0))).toBe('passed');
  });

  test('was failing before when it ends the same way and names the same failures', () => {
    const before =
      'ok 1 - adds\nnot ok 2 - divides (3.2ms)\n  error: 1 !== 2 at /tmp/run-a1b2/x.js:10:3\n# fail 1\n';
    const after =
      'ok 1 - adds\nok 2 - handles errors\nnot ok 3 - divides (12ms)\n  error: 1 !== 2 at /tmp/run-ffff/x.js:12:3\n# fail 1\n';
    expect(judged(report(before), report(after))).toBe('preexisting');
    expect(judged(report(''), report(''))).toBe('preexisting');
  });

  test('fails again when a test of another name fails, also where names differ in numbers alone', () => {
    for (const [before, after] of [
      ['FAIL test3', 'FAIL test7'],
      ['not ok 1 - adds 3', 'not ok 1 - adds 7'],
      ['✖ adds 3 (1.2ms)', '✖ adds 7 (1.2ms)'],
      ['    --- FAIL: TestAdd/3 (0.00s)', '    --- FAIL: TestAdd/7 (0.00s)'],
      ['FAILED test_a.py::test_add[1-3] - assert', 'FAILED test_a.py::test_add[1-7] - assert'],
      ['FAIL: test_3 (a.Test3)', 'FAIL: test_3 (a.Test7)'],
    ] as const) {
      expect(judged(report(before), report(after))).toBe('failed');
      expect(judged(report(before), report(before.replace('1.2ms', '8ms')))).toBe('preexisting');
    }
  });

  test('was failing before when some of its failures are gone', () => {
    expect(judged(report('FAIL a\nFAIL b\n2 failed'), report('FAIL b\n1 failed'))).toBe('preexisting');
  });

  test('that speaks in words of its own fails again with any new line, or a new place in a file', () => {
    expect(judged(report('src/a.go\n'), report('src/a.go\nsrc/b.go\n'))).toBe('failed');
    expect(judged(report('src/a.go\nsrc/b.go\n'), report('src/b.go\n'))).toBe('preexisting');
    const long = 'a.py:1:80: E501 line too long (82 > 79 characters)';
    expect(judged(report(long), report(`checked 2 files\n${long.replace('1', '7')}`))).toBe('preexisting');
    expect(judged(report(long), report(`${long}\nb.py:3:1: W291 trailing whitespace`))).toBe('failed');
  });

  test('fails again with another end, a failure that was not named, one more of them, or a larger number', () => {
    expect(judged(report('x', 1), report('x', 2))).toBe('failed');
    expect(judged(report('FAIL a'), report('FAIL a\nFAIL b'))).toBe('failed');
    expect(judged(report('x.c:1: error: bad'), report('x.c:1: error: bad\nx.c:9: error: bad'))).toBe(
      'failed',
    );
    expect(judged(report('3 failed, 5 passed'), report('4 failed, 5 passed'))).toBe('failed');
    expect(judged(report('Failures: 3'), report('Failures: 10'))).toBe('failed');
    const timedOut = { ...report('x'), end: { ...commandEnd(1), timedOut: true } };
    expect(judged(report('x'), timedOut)).toBe('failed');
    expect(judged(report('3 problems', 1), report('', 1))).toBe('preexisting');
    expect(judged(timedOut, timedOut)).toBe('preexisting');
  });

  test('is judged by all of a long output, not by what is shown of it', () => {
    const failing = (index: number) =>
      `not ok ${index} ${'abcdefghij'[index % 10]}${'-'.repeat(index)} fails`;
    const output = (ms: string, more: readonly string[] = []) =>
      [...Array.from({ length: 300 }, (_, index) => `${failing(index)} (${ms} ms)`), ...more].join('\n');
    const long = (text: string) => ({
      ...report('its ends'),
      failures: failuresIn({ head: text.slice(0, 30_000), omitted: 100, tail: text.slice(30_100) }),
    });
    const before = long(output('1'));
    expect(judged(before, long(output('1')))).toBe('preexisting');
    expect(judged(before, long(output('1', ['not ok: another'])))).toBe('failed');
    expect(judged(before, long(output('1').replace('not ok 7', 'ok 7')))).toBe('preexisting');
  });

  test('is compared by number where there are more failures than are listed', () => {
    const words = Array.from({ length: 9_000 }, (_, index) =>
      String.fromCharCode(97 + (index % 26)).repeat(1 + index / 26),
    );
    const long = (lines: readonly string[]) => ({
      ...report(''),
      failures: failuresIn({ head: lines.map((line) => `FAIL ${line}`).join('\n'), omitted: 0, tail: '' }),
    });
    const before = long(words);
    expect(before.failures.others).toBeGreaterThan(0);
    expect(judged(before, long(words))).toBe('preexisting');
    expect(judged(before, long(words.slice(1)))).toBe('preexisting');
    expect(judged(before, long(['aa1b', ...words]))).toBe('failed');
    expect(judged(before, long([...words, 'zzz-another']))).toBe('failed');
  });
});
