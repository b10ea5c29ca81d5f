import { describe, expect, test } from 'vitest';
import { ChangeBudget } from '../../../../src/adapters/workspace/tree/change-budget.ts';

const limits = { maxChangedFiles: 2, maxChangedBytes: 100, maxChangedFileBytes: 60, maxDiskBytes: 1_000 };

function begun(freeBytes = () => 5_000): ChangeBudget {
  const budget = new ChangeBudget(limits, freeBytes);
  budget.begin();
  return budget;
}

/** Takes the file in as the runner does: a look at its size, then at its content. */
const take = (budget: ChangeBudget, path: string, size: number) =>
  budget.fits(path, size, null) && budget.count(path, size);

describe('what a run may change', () => {
  test('counts files once and every version of them, and says what would have been needed', () => {
    const budget = begun();
    expect(['a', 'a', 'b'].map((path) => take(budget, path, 20))).toEqual([true, true, true]);
    expect(budget.exceeded).toBeNull();
    expect(['c', 'd', 'a'].map((path) => take(budget, path, 10))).toEqual([false, false, true]);
    expect(budget.exceeded).toEqual({ limit: 'changed_files', value: 2, used: 4 });
    expect(budget.leftOut).toEqual(['c', 'd']);
  });

  test('bytes of all files, and of one', () => {
    const all = begun();
    expect([take(all, 'a', 60), take(all, 'b', 50)]).toEqual([true, false]);
    expect(all.exceeded).toEqual({ limit: 'changed_bytes', value: 100, used: 110 });
    const one = begun();
    expect(take(one, 'a', 1e9)).toBe(false);
    expect(one.exceeded).toEqual({ limit: 'changed_file_bytes', value: 60, used: 1e9 });
  });

  test('data that the runner stores counts towards the disk limit', () => {
    let free = 5_000;
    const budget = begun(() => free);
    free -= 1_000;
    expect(take(budget, 'a', 10)).toBe(true);
    free -= 1;
    expect(take(budget, 'b', 10)).toBe(false);
    expect(budget.exceeded).toEqual({ limit: 'disk_bytes', value: 1_000, used: 1_001 });
  });

  test('a file of the size that it had is looked at, and counts when it is another', () => {
    const budget = begun();
    expect([budget.fits('a', 1e9, 1e9), budget.exceeded]).toEqual([true, null]);
    expect(budget.count('a', 1e9)).toBe(false);
    expect(budget.exceeded).toMatchObject({ limit: 'changed_file_bytes' });
  });

  test('the baseline is free', () => {
    const budget = new ChangeBudget(limits, () => 0);
    expect([take(budget, 'a', 1e9), budget.exceeded, budget.leftOut]).toEqual([true, null, []]);
  });
});
