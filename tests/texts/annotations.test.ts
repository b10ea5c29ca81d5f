import { describe, expect, test } from 'vitest';
import type { RunOutcome } from '../../src/domain/run/outcome.ts';
import type { RunResult } from '../../src/domain/run/result.ts';
import { annotationLine, annotationsOf } from '../../src/texts/step.ts';
import { finishedRun, report, reviewed } from '../support/runs/finished-run.ts';

const done: RunOutcome = { name: 'done', exitCode: 0, errorCode: null, reason: '' };
const linesOf = (part: Partial<RunResult>, outcome = done) =>
  annotationsOf(finishedRun(part), outcome).map(annotationLine);

describe('annotations', () => {
  test('a failed command is shown at the changed lines that it names', () => {
    const output = [
      '\u001b[31m./src/money.ts:12:3\u001b[0m error TS2322: no',
      'src/money.ts(14,1): error, again',
      '  at round (src/money.ts:12:3)',
      'node_modules/x/src/money.ts:1:1 error',
      'other/src/money.ts:2:1 error',
      'File "tests/money.test.ts", line 7, in test',
      'src/money.ts:99 beyond the third',
    ].join('\n');
    expect(linesOf({ verify: [report('npm test', 1, output)] })).toEqual([
      '::error file=src/money.ts,line=12,title=Failed%3A npm test::./src/money.ts:12:3 error TS2322: no',
      '::error file=src/money.ts,line=14,title=Failed%3A npm test::src/money.ts(14,1): error, again',
      '::error file=tests/money.test.ts,line=7,title=Failed%3A npm test::File "tests/money.test.ts", line 7, in test',
    ]);
  });

  test('a failed command has no place if its output names no changed file', () => {
    expect(linesOf({ verify: [report('npm test', 1, 'src/other.ts:1:1 error\n1 failed\n')] })).toEqual([
      '::error title=Failed%3A npm test::exit code 1: 1 failed',
    ]);
  });

  test('secrets are reported with their place, flags with their reason, and reverted paths by name', () => {
    expect(
      linesOf({
        putBack: [{ path: 'LICENSE', by: 'tool' }],
        secrets: [{ path: 'src/a,b.ts', line: 3, what: 'a GitHub token' }],
        flags: [{ path: 'package.json', flag: 'package_scripts', detail: 'postinstall' }],
      }),
    ).toEqual([
      '::error file=src/a%2Cb.ts,line=3,title=Looks like a secret::The patch would add what looks like a secret here (a GitHub token); it is withheld unless that is accepted.',
      '::warning file=LICENSE,title=Not allowed to change::LICENSE was changed by commands and reverted, because it must not change.',
      '::warning file=package.json,title=Worth a second look::package.json runs when packages are installed, built or tested (postinstall)',
    ]);
  });

  test('a finding stands at its line in a file that the patch changes, and is reported with its place elsewhere', () => {
    const finding = {
      severity: 'blocking',
      path: 'src/money.ts',
      line: 12,
      problem: 'Rounds twice.',
    } as const;
    const findings = [
      finding,
      { ...finding, line: null, severity: 'note' as const },
      { ...finding, path: 'src/bill.ts', line: 3 },
    ];
    expect(linesOf({ review: reviewed({ findings }) })).toEqual([
      '::warning file=src/money.ts,line=12,title=Review%3A blocking::Rounds twice.',
      '::warning title=Review%3A blocking::src/bill.ts:3: Rounds twice.',
      '::notice file=src/money.ts,title=Review::Rounds twice.',
    ]);
    const changedFiles = [{ path: finding.path, kind: 'delete', additions: 0, deletions: 9 } as const];
    expect(linesOf({ changedFiles, review: reviewed({ findings: [finding] }) })).toEqual([
      '::warning title=Review%3A blocking::src/money.ts:12: Rounds twice.',
    ]);
  });

  test('there are at most ten of each level, and the last one counts the others', () => {
    const flags = Array.from({ length: 14 }, (_, at) => ({
      path: `f${at}`,
      flag: 'lock_file' as const,
      detail: '',
    }));
    const shown = annotationsOf(finishedRun({ flags }), done);
    expect(shown).toHaveLength(10);
    expect(shown.at(-1)).toEqual({
      level: 'warning',
      title: 'And more',
      message: '5 more; see the summary of the step.',
      file: null,
      line: null,
    });
  });

  test('an odd name is in the message alone', () => {
    const odd = { level: 'error', title: 'x', message: 'y', file: 'a\nb', line: 1 } as const;
    expect(annotationLine(odd)).toBe('::error title=x::y');
  });
});
