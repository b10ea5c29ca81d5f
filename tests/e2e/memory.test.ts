/** Large and hostile contents, and how much memory the runner takes for them. */

import { afterAll, expect, test } from 'vitest';
import { watchMemory } from '../support/peak-memory.ts';
import { makeRepository, removeFolders } from '../support/repository.ts';
import { call, type ScriptedRun, scriptedRun } from '../support/scripted-run.ts';

afterAll(removeFolders);

/** The runner alone takes about 100 MiB; less than 300 MiB more is what contents may cost. */
const MOST_MIB = 400;

const done = { text: 'Done.' };
const command = (script: string) => ({ calls: [call('run_command', { command: script })] });

async function measured(turns: ScriptedRun['turns'], args: readonly string[] = []) {
  const memory = { peakBytes: 0 };
  const run = await scriptedRun({
    repository: await makeRepository({ 'a.txt': 'a\n' }),
    turns,
    args: ['--sandbox', 'off', ...args],
    during: ({ pid }) => watchMemory(pid, memory),
  });
  return { run, peakMib: memory.peakBytes / 1024 / 1024 };
}

const lineEnds = (bytes: number) => command(`head -c ${bytes} /dev/zero | tr '\\0' '\\n' > lines.txt`);

test('60 MB of line ends are not looked through, which withholds the patch', async () => {
  const { run, peakMib } = await measured([lineEnds(60_000_000), done]);
  expect([run.exitCode, run.result.status, run.result.reason], run.stderr).toEqual([
    8,
    'finished',
    expect.stringContaining('lines.txt (too large to be looked through)'),
  ]);
  expect(peakMib).toBeLessThan(MOST_MIB);
});

test('16 MB of line ends are looked through, and the result says that they are not told apart', async () => {
  const { run, peakMib } = await measured([lineEnds(16_000_000), done]);
  expect([run.exitCode, run.result.changedFiles[0]?.additions], run.stderr).toEqual([0, 16_000_000]);
  expect(run.result.provenance?.files[0]).toMatchObject({
    sources: [{ by: 'tool', tool: 'run_command' }],
    hunks: null,
    cut: 'The patch is larger than 8 MiB or has more than 250,000 lines, so its hunks are not told apart.',
  });
  expect(peakMib).toBeLessThan(MOST_MIB);
});

test('a megabyte of line ends is too many lines to be followed one by one', async () => {
  const turns = Array.from({ length: 6 }, (_, n) =>
    command(`head -c ${90_000 + n} /dev/zero | tr '\\0' '\\n' > ${n}.txt`),
  );
  const { run, peakMib } = await measured([...turns.slice(0, 2), done]);
  expect(run.result.provenance?.files.map(({ cut }) => cut?.includes('50,000 lines'))).toEqual([true, true]);
  expect(peakMib).toBeLessThan(MOST_MIB);
});
