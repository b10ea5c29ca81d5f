/** Folders with more entries than the runner looks through. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { watchMemory } from '../../support/machine/peak-memory.ts';
import { call, command, scriptedRun } from '../../support/runs/scripted-run.ts';
import { IS_FULL, sampled } from '../../support/setup/sample.ts';

/** A folder may have five times as many entries as files may change, and an ignored one 100,000. */
const MOST_CHANGES = IS_FULL ? 20_000 : 1_000;

/** What the runner may hold, the 100 MiB that it takes alone included; with 100,000 changes, 330 to 460 MiB were seen. */
const MOST_MIB = 400;

const emptyFiles = (count: number, folder: string) =>
  command(`mkdir -p ${folder} && cd ${folder} && seq -w ${count} | xargs -n 5000 touch`);

async function flooded(count: number, folder: string) {
  const memory = { peakBytes: 0 };
  const edit = { calls: [call('write_file', { path: 'b.txt', content: 'b\n' })] };
  const never = { calls: [call('write_file', { path: 'never.txt', content: '' })] };
  const run = await scriptedRun({
    repository: await makeRepository({ '.gitignore': 'ignored/\n', 'a.txt': 'a\n' }),
    turns: [edit, emptyFiles(count, folder), never],
    args: ['--sandbox', 'off'],
    during: ({ pid }) => watchMemory(pid, memory),
  });
  return { run, peakMib: memory.peakBytes / 1024 / 1024 };
}

const count = IS_FULL ? 300_000 : 100_001;

test.each(sampled(['ignored/deep', 'seen/deep'], () => 'folder'))(
  'as many empty files in %s end the run',
  async (folder) => {
    const { run, peakMib } = await flooded(count, folder);
    expect([run.exitCode, run.result.outcome, run.result.reason], run.stderr).toEqual([
      7,
      'limit_reached',
      `The folder "${folder}" has more than 100,000 entries, so it was not scanned (raise it with --max-changed-files: a folder may have five times as many entries); the patch so far has 1 file.`,
    ]);
    expect(run.result.changedFiles.map(({ path }) => path)).toEqual(['b.txt']);
    expect(peakMib).toBeLessThan(MOST_MIB);
  },
);

test.runIf(IS_FULL)('as many as a folder may have are looked through', async () => {
  const { run, peakMib } = await flooded(100_000, 'seen/deep');
  expect(run.result.reason).toContain('Changed 100,001 files of 20,000 (--max-changed-files)');
  expect(peakMib).toBeLessThan(MOST_MIB + 100);
});

const PLANTED = [
  ['above them', 'mkdir -p evil/.git', 'evil'],
  ['beside them in an ignored folder', 'mkdir -p ignored/evil/.git', 'ignored'],
  ['beside them', 'mkdir -p evil/.git', '.'],
  ['among them', 'mkdir -p seen/.git', 'seen'],
] as const;

// By day, `git-planted-crowded` of the attacks tries them among the files.
test.runIf(IS_FULL).each(PLANTED)(
  'a git dir that a command plants %s is removed all the same',
  async (_where, planting, folder) => {
    const repository = await makeRepository({ '.gitignore': 'ignored/\n', 'a.txt': 'a\n' });
    const entries = folder === 'ignored' ? 100_001 : 5 * MOST_CHANGES + 1;
    const fill = `mkdir -p ${folder} && cd ${folder} && seq -w ${entries} | xargs -n 5000 touch`;
    const planted = planting.replace('mkdir -p ', '');
    const run = await scriptedRun({
      repository,
      turns: [command(`${planting} && echo evil > ${planted}/config && ${fill}`)],
      args: ['--max-changed-files', String(MOST_CHANGES)],
    });
    expect(existsSync(join(repository.root, planted)), run.stderr).toBe(false);
    expect([run.exitCode, run.result.removedGitDirs]).toEqual([7, [planted]]);
  },
);
