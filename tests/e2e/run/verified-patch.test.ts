/** What passed is what the patch has; where it is not, the run says so. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { isRunning, killIfThere, oddSeconds, processesWith } from '../../support/machine/processes.ts';
import {
  call,
  command,
  done,
  type FinishedRun,
  type ScriptedRun,
  scriptedRun,
} from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';

const write = (path: string, content: string) => ({ calls: [call('write_file', { path, content })] });

const FILES = { 'a.txt': 'a\n', 'b.txt': 'b\n', '.gitignore': 'ignored/\n' };

async function started(args: readonly string[], turns: ScriptedRun['turns'], during?: ScriptedRun['during']) {
  const repository = await makeRepository(FILES);
  const ended = await scriptedRun({ repository, turns, args, ...(during ? { during } : {}) });
  return { root: repository.root, ended };
}

const toldOf = ({ result, exitCode }: FinishedRun) => [exitCode, result.reason, result.unverified];

const PLACES = [
  ['required', 'worktree', ''],
  ['off', 'checkout', ' in a fresh checkout'],
] as const;

describe.each(PLACES)('--sandbox %s --verify-in %s', (sandbox, place, where) => {
  const PLACE = ['--sandbox', sandbox, '--verify-in', place];

  test.each(
    sampled(
      [
        ['mends a file of the patch and then passes', 'echo good > a.txt', 'grep -q good a.txt'],
        ['adds to a file of the patch after it has passed', 'grep -q bad a.txt', 'echo more >> a.txt'],
        ['takes a file of the patch away', 'git show HEAD:a.txt > a.txt', 'grep -q a a.txt'],
        ['makes a program of a file of the patch', 'chmod +x a.txt', './a.txt || true'],
        ['puts a link in place of a file of the patch', 'ln -sf b.txt a.txt', 'grep -q b a.txt'],
      ],
      ([what = '']) => (/program|link/.test(what) ? 'mode' : 'content'),
    ),
  )('a verify command that %s has not verified the patch', async (_, first, second) => {
    const verify = [first, second].flatMap((line) => ['--verify', `{ ${line}; }`]);
    const { ended } = await started([...PLACE, ...verify], [write('a.txt', 'bad\n'), done]);
    expect(toldOf(ended), ended.stderr).toEqual([
      0,
      `1 file changed, 2 verify commands passed${where}, but on different contents than the patch in a.txt.`,
      ['a.txt'],
    ]);
    expect(ended.patch).toContain('+bad\n');
    expect(ended.patch.match(/^\+/gm)).toHaveLength(2);
  });

  test('files that the patch has not may change, and a file may be written again as it was', async () => {
    const verify = ['echo x > b.txt; echo new > cache.txt', 'cat a.txt > copy; cat copy > a.txt; rm copy'];
    const { ended } = await started(
      [...PLACE, ...verify.flatMap((line) => ['--verify', line])],
      [write('a.txt', 'good\n'), done],
    );
    expect(toldOf(ended), ended.stderr).toEqual([0, `1 file changed, 2 verify commands passed${where}.`, []]);
    expect(ended.result.changedFiles.map(({ path }) => path)).toEqual(['a.txt']);
  });
});

test('a later verification that changes nothing counts', async () => {
  const { ended } = await started(
    ['--verify', 'test -e once || { touch once; echo worse >> a.txt; false; }'],
    [write('a.txt', 'first\n'), done, write('a.txt', 'second\n'), done],
  );
  expect([ended.result.reason, ended.result.unverified], ended.stderr).toEqual([
    '1 file changed, 1 verify command passed.',
    [],
  ]);
});

describe('without a sandbox, a process that the command has left behind', () => {
  const leave = (script: string) =>
    `setsid env -i PATH="$PATH" sh -c '${script}' >/dev/null 2>&1 </dev/null & echo good > a.txt`;

  test('writes after verification: the patch is what was verified, and the rest is reported', async () => {
    const { root, ended } = await started(
      ['--sandbox', 'off', '--verify', 'grep -q good a.txt; mkdir -p ignored; touch ignored/go'],
      [
        command(
          leave(
            'i=0; while [ ! -e ignored/go ] && [ $i -lt 900 ]; do sleep 0.01; i=$((i+1)); done; i=0; while [ $i -lt 200 ]; do echo backdoor >> a.txt; sleep 0.005; i=$((i+1)); done',
          ),
        ),
        done,
      ],
    );
    expect([ended.exitCode, ended.result.outcome], ended.stderr).toEqual([0, 'done']);
    expect(ended.patch.match(/^\+.*$/gm)).toEqual(['+++ b/a.txt', '+good']);
    const onDisk = readFileSync(join(root, 'a.txt'), 'utf8');
    if (onDisk !== 'good\n') expect(ended.result.unexplained.map(({ path }) => path)).toContain('a.txt');
  });
});

describe('--include-foreign', () => {
  const places = [
    ['worktree', ''],
    ['checkout', ' in a fresh checkout'],
  ] as const;

  test.each(sampled(places, () => 'place', 1))(
    'what changed before is verified with the rest, --verify-in %s',
    async (place, where) => {
      const repository = await makeRepository(FILES);
      const script = [write('a.txt', 'good\n'), { ...done, pings: 3, gapMs: 25 }];
      const ended = await scriptedRun({
        repository,
        args: [
          '--include-foreign',
          '--verify-in',
          place,
          '--verify',
          'grep -q foreign b.txt && grep -q good a.txt',
        ],
        turns: (_request, index) => {
          if (index === 1) repository.write('b.txt', 'foreign\n');
          return script[index] ?? done;
        },
      });
      expect(toldOf(ended), ended.stderr).toEqual([
        0,
        `2 files changed, 1 verify command passed${where}.`,
        [],
      ]);
    },
  );

  test('what changed since is in the patch, and told as not verified', async () => {
    const seconds = oddSeconds();
    const repository = await makeRepository(FILES);
    const ended = await scriptedRun({
      repository,
      args: [
        '--include-foreign',
        '--verify-in',
        'checkout',
        '--verify',
        `sleep ${seconds} || grep -q good a.txt`,
      ],
      turns: [write('a.txt', 'good\n'), done],
      during: async () => {
        await until('the verify command runs', () => isRunning(seconds));
        repository.write('b.txt', 'foreign\n');
        for (const pid of processesWith(`\0${seconds}\0`)) killIfThere(pid);
      },
    });
    expect(toldOf(ended), ended.stderr).toEqual([
      0,
      '2 files changed, 1 verify command passed in a fresh checkout, but on different contents than the patch in b.txt.',
      ['b.txt'],
    ]);
  });
});
