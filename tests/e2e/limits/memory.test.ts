/** Large and hostile contents, and how much memory the runner takes for them. */

import { afterAll, expect, test } from 'vitest';
import { makeRepository, removeFolders } from '../../support/files/repository.ts';
import { watchMemory } from '../../support/machine/peak-memory.ts';
import { call, type ScriptedRun, scriptedRun } from '../../support/runs/scripted-run.ts';

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
    expect.stringContaining('lines.txt (too large to review)'),
  ]);
  expect(peakMib).toBeLessThan(MOST_MIB);
});

test('16 MB of line ends are in the patch as a binary file, since git would need too much memory for the lines', async () => {
  const { run, peakMib } = await measured([lineEnds(16_000_000), done]);
  expect([run.exitCode, run.result.changedFiles[0]?.additions], run.stderr).toEqual([0, null]);
  expect(run.result.provenance?.files[0]).toMatchObject({ sources: [{ by: 'tool', tool: 'run_command' }] });
  expect(peakMib).toBeLessThan(MOST_MIB);
});

test('7 MB of line ends are read, and the result says that they are not distinguished', async () => {
  const { run, peakMib } = await measured([lineEnds(7_000_000), done]);
  expect([run.exitCode, run.result.changedFiles[0]?.additions], run.stderr).toEqual([0, 7_000_000]);
  expect(run.result.provenance?.files[0]).toMatchObject({
    sources: [{ by: 'tool', tool: 'run_command' }],
    hunks: null,
    cut: 'The patch is larger than 8 MiB or has more than 250,000 lines, so changes are not attributed to single hunks.',
  });
  expect(peakMib).toBeLessThan(MOST_MIB);
});

test('some hundred thousand line ends are attributed line by line', async () => {
  const lineEndsIn = (n: number, count: number) =>
    command(`head -c ${count} /dev/zero | tr '\\0' '\\n' >> ${n}.txt`);
  const turns = [lineEndsIn(0, 90_000), lineEndsIn(1, 90_000), lineEndsIn(0, 1_000)];
  const { run, peakMib } = await measured([...turns, done]);
  expect(run.result.provenance?.files.map(({ cut }) => cut)).toEqual([null, null]);
  expect(peakMib).toBeLessThan(MOST_MIB);
});

test('sixteen reads at a time of a file of 31 MB are refused by its size, and of 8 MB they are held', async () => {
  const reads = (path: string) => ({
    calls: Array.from({ length: 16 }, (_, n) => call('read_file', { path, offset: n + 1, limit: 1 })),
  });
  const make = 'yes short | head -c 31000000 > big.txt; head -c 8000000 big.txt > small.txt';
  const { run, peakMib } = await measured([
    command(make),
    reads('big.txt'),
    reads('small.txt'),
    command('rm big.txt small.txt'),
    done,
  ]);
  const texts = run.events.flatMap((event) =>
    event.type === 'tool.completed' && event.outcome.status === 'failed' ? [event.outcome.text] : [],
  );
  expect(texts).toHaveLength(16);
  expect(texts[0]).toContain(
    '"big.txt" has 31,000,000 bytes; files over 8,388,608 bytes are not read whole.',
  );
  expect(peakMib).toBeLessThan(MOST_MIB);
});

test.each([
  ['a write_file of 20 MB', { calls: [call('write_file', { path: 'a', content: 'x'.repeat(20_000_000) })] }],
  [
    'a write_file of 30 MB of short lines',
    { calls: [call('write_file', { path: 'a', content: 'short\n'.repeat(5_000_000) })] },
  ],
  ['a text of 30 MB', { text: 'short\n'.repeat(5_000_000) }],
])('%s is no answer: the run ends before it is held', async (_, turn) => {
  const { run, peakMib } = await measured([command('echo b > b.txt'), turn, done]);
  expect([run.exitCode, run.result.outcome, run.result.reason], run.stderr).toEqual([
    4,
    'provider_error',
    expect.stringMatching(/exceeds the limit of 4,194,304 bytes; ask for smaller steps in the plan/),
  ]);
  expect(run.server.requests).toHaveLength(2);
  expect(run.result.changedFiles.map(({ path }) => path)).toEqual(['b.txt']);
  expect(peakMib).toBeLessThan(MOST_MIB);
});

test('a write_file of 4 MB of short lines fits into memory', async () => {
  const content = 'short\n'.repeat(590_000);
  const { run, peakMib } = await measured([{ calls: [call('write_file', { path: 'a', content })] }]);
  expect(run.result.changedFiles[0]?.additions, run.stderr).toBe(590_000);
  expect(peakMib).toBeLessThan(MOST_MIB);
});
