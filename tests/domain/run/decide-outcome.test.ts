import { describe, expect, test } from 'vitest';
import { decideOutcome, type OutcomeFacts } from '../../../src/domain/run/decide-outcome.ts';
import type { StopReason } from '../../../src/domain/run/limits.ts';

const filesChanged = (count: number): NonNullable<OutcomeFacts['changedFiles']> =>
  Array(count).fill({ path: 'a.txt', kind: 'modify', additions: 1, deletions: 0 });
const facts = (stop: StopReason, more: Partial<OutcomeFacts> = {}): OutcomeFacts => {
  return { stop, changedFiles: filesChanged(2), ...more };
};

describe('decideOutcome', () => {
  test('an interrupted run is interrupted, whatever became of the patch', () => {
    const given = facts({ why: 'interrupted', signal: 'SIGINT' }, { publishFailure: 'x' });
    expect(decideOutcome(given).name).toBe('interrupted');
  });

  test('an interrupted run without a written patch says so, rather than that nothing was changed', () => {
    const stop = { why: 'interrupted', signal: 'SIGINT' } as const;
    const given = facts(stop, { changedFiles: [], publishFailure: 'The patch cannot be written to x.' });
    expect(decideOutcome(given).reason).toBe('Stopped by SIGINT; The patch cannot be written to x.');
  });
});
