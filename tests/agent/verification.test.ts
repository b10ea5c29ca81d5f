import { expect, test } from 'vitest';
import { verifyWork } from '../../src/agent/verification.ts';
import { ChangeLedger } from '../../src/domain/changes/ledger.ts';
import type { RunAction } from '../../src/domain/run/events.ts';
import { openRealParts, type RealParts } from '../support/files/real-parts.ts';
import { isRunning, oddSeconds } from '../support/machine/processes.ts';
import { withEnoughTime } from '../support/waiting/enough-time.ts';
import { until } from '../support/waiting/until.ts';

async function verify(
  parts: RealParts,
  commands: readonly string[],
  { timeoutMs = 20_000, signal = new AbortController().signal } = {},
) {
  const toolSettings = { ...parts.toolSettings, verifyTimeoutMs: timeoutMs };
  const actions: RunAction[] = [];
  const verified = { baseline: null, commands, changes: new ChangeLedger(), iteration: 2, signal };
  for await (const action of verifyWork({ ...parts, toolSettings }, verified)) actions.push(action);
  const last = actions.at(-1);
  const reports = last?.type === 'verify.completed' ? last.reports : [];
  return {
    actions,
    ends: reports.map(({ command, end, output }) => [command, end.exitCode, output]),
    reports,
  };
}

test('a command that outlives its time has failed, and the next one still runs', async () => {
  const parts = await openRealParts({});
  const { reports } = await withEnoughTime(
    (timeoutMs) => verify(parts, ['echo begun; sleep 600', 'echo next'], { timeoutMs }),
    ({ reports: [first, second] }) => first?.output !== '' && second?.end.timedOut === false,
  );
  expect(reports.map(({ end, output }) => [end.timedOut, output])).toEqual([
    [true, 'begun\n'],
    [false, 'next\n'],
  ]);
});

test('an interruption ends it: the command at hand is reported as interrupted, the next does not run', async () => {
  const stop = new AbortController();
  const seconds = oddSeconds();
  const sleep = `sleep ${seconds}`;
  void until('the command runs', () => isRunning(seconds)).then(() => stop.abort());
  const { reports } = await verify(await openRealParts({}), [sleep, 'echo next'], { signal: stop.signal });
  expect(reports.map(({ command, end }) => [command, end.interrupted])).toEqual([[sleep, true]]);
});
