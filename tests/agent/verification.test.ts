import { expect, test } from 'vitest';
import { Verification } from '../../src/agent/verification.ts';
import { ChangeLedger } from '../../src/domain/changes/ledger.ts';
import type { RunAction } from '../../src/domain/run/events.ts';
import { redactorFor } from '../../src/domain/secrets/redact.ts';
import { openRealParts, type RealParts, SECRET, verifyPlaceIn } from '../support/files/real-parts.ts';
import { withEnoughTime } from '../support/waiting/enough-time.ts';

async function verify(
  { sandbox, workspace }: RealParts,
  commands: readonly string[],
  { timeoutMs = 20_000, permits = (_path: string) => true, signal = new AbortController().signal } = {},
) {
  const verification = new Verification({
    place: verifyPlaceIn(sandbox),
    workspace,
    redact: redactorFor([SECRET]),
    permits,
    timeoutMs,
  });
  const actions: RunAction[] = [];
  for await (const action of verification.run({
    baseline: null,
    commands,
    changes: new ChangeLedger(),
    iteration: 2,
    signal,
  }))
    actions.push(action);
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
