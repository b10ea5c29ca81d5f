import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  descendantsOf,
  identify,
  killDescendants,
  type ProcessId,
} from '../../../../src/adapters/sandboxes/command/process-table.ts';
import { until } from '../../../support/waiting/until.ts';

test('descendants are killed to the last, those in other sessions too, and their ancestor is not', async () => {
  const tree = spawn('bash', ['-c', '(setsid sleep 600 & sleep 600) & sleep 600 & read -r line']);
  try {
    const root = identify(tree.pid ?? 0) as ProcessId;
    await until('all have started', () => sleepersBelow(root).length === 3);
    const sleepers = sleepersBelow(root);
    killDescendants(root);
    await until('they are gone', () => sleepers.every((pid) => identify(pid) === null));
    expect(identify(root.pid)).toEqual(root);
  } finally {
    tree.stdin.end('\n');
    await once(tree, 'close');
  }
});

test('of a process that is gone, nothing is killed', () => {
  const other = identify(process.pid) as ProcessId;
  killDescendants({ ...other, startTime: '1' });
  expect(descendantsOf({ ...other, startTime: '1' })).toEqual([]);
});

function sleepersBelow(root: ProcessId): number[] {
  return descendantsOf(root).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n';
    } catch {
      return false;
    }
  });
}
