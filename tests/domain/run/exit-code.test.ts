import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import {
  CHANGES_EXPECTED_EXIT_CODE,
  EXIT_CODE,
  exitCodeList,
  OutcomeName,
  SIGNAL_EXIT_CODE,
  type StopSignal,
} from '../../../src/domain/run/exit-code.ts';

describe('exit codes', () => {
  test('every outcome has one, and an interrupted run has that of its signal', () => {
    expect([...Object.keys(EXIT_CODE), 'interrupted'].sort()).toEqual([...OutcomeName.options].sort());
    for (const [signal, code] of Object.entries(SIGNAL_EXIT_CODE))
      expect(code).toBe(128 + constants.signals[signal as StopSignal]);
  });

  test('the table of outcomes matches the code', () => {
    const known = [
      ...Object.entries(EXIT_CODE).map(([name, code]) => `${code} ${name}`),
      `${CHANGES_EXPECTED_EXIT_CODE} no_change`,
      ...Object.values(SIGNAL_EXIT_CODE).map((code) => `${code} interrupted`),
    ];
    expect(rowsOf('docs/outcomes.md').sort()).toEqual(known.sort());
  });

  test('help lists them all, in ascending order', () => {
    expect(exitCodeList().join(', ')).toBe(
      '0 done or no_change, 1 internal_error, 2 usage_error, 3 no_change with --if-no-changes error, 4 provider_error, 5 blocked, 7 limit_reached, 8 policy_violation, 9 verify_failed, 10 sandbox_unavailable, 11 publish_failed, 124 deadline, 129, 130, 143 interrupted',
    );
  });
});

/** What the page's table says: each code of a row with each outcome of it. */
function rowsOf(page: string): string[] {
  const [, section = ''] = readFileSync(page, 'utf8').split('\n| exit | outcome | when |\n');
  return [...section.matchAll(/^\| (\d[\d /]*) \| (`.*?`) \|/gm)].flatMap(([, codes = '', names = '']) =>
    codes
      .split(' / ')
      .flatMap((code) => names.split(' / ').map((name) => `${code} ${name.replaceAll('`', '')}`)),
  );
}
