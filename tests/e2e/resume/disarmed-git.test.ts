/** The git dir that commands have had, once the run has ended or is carried on: whoever looks into it runs nothing of theirs. */

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { cutRun } from '../../support/runs/recorded-run.ts';
import { command, done, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';
import { PATIENCE_MS } from '../../support/waiting/patience.ts';

/** Commits, and plants whatever git runs or is led by. The trap leaves a file in `marks`. */
function planting(trap: string): string {
  return [
    'd=$(git rev-parse --git-dir)',
    'echo more > a.txt; git commit -qam "By the model"; git branch side; echo again > a.txt',
    `for name in core.fsmonitor core.pager pager.log pager.status diff.external core.sshCommand; do git config $name "${trap}"; done`,
    `git config alias.st "!${trap}"; git config core.hooksPath "$d/hooks"; git config extensions.worktreeConfig true`,
    `printf '[core]\\n\\tfsmonitor = ${trap}\\n' | tee $d/config.worktree > $d/extra; git config include.path extra`,
    `mkdir -p $d/hooks $d/.git $d/modules/x $d/rebase-merge; cp $d/config $d/.git/config; cp $d/config $d/modules/x/config`,
    `printf '#!/bin/sh\\n${trap}\\n' > $d/hooks/post-index-change; chmod +x $d/hooks/*; echo "exec ${trap}" > $d/rebase-merge/git-rebase-todo`,
    'echo "* diff=trap filter=trap" > $d/info/attributes; git config filter.trap.clean "$d/hooks/post-index-change"',
    'ln -s / $d/linked; mkdir -p $d/closed/deep; chmod 000 $d/closed; mkdir $d/objects/odd; echo /nowhere > $d/gitdir',
    // From here on git itself finds no repository there.
    'echo /nowhere > $d/commondir',
    'rm $d/objects/info/alternates; ln -s /etc/passwd $d/objects/info/alternates; mkfifo $d/shallow; chmod 500 $d $d/objects; true',
  ].join('\n');
}

/** What is left there besides loose objects. */
const entries = (gitDir: string) => readdirSync(gitDir).sort();

const LEFT = ['HEAD', 'config', 'index', 'info', 'logs', 'objects', 'packed-refs', 'refs'];

describe.each(sampled(['required', 'off'], () => 'sandbox'))('--sandbox %s', (sandbox) => {
  const ends = [
    ['a run that is done', ['test -e a.txt'], 'done'],
    ['a run whose verification fails', ['false'], 'verify_failed'],
  ] as const;

  test.each(sampled(ends, () => 'end'))(
    '%s leaves nothing there that git runs',
    async (_, verify, outcome) => {
      const repository = await makeRepository({
        'a.txt': 'a\n',
        'trap.sh': 'touch trap.ran "$HOME/trap.ran"\n',
      });
      const home = temporaryFolder();
      const trap = `sh ${repository.root}/trap.sh`;
      const args = [
        '--sandbox',
        sandbox,
        '--fix-rounds',
        '0',
        ...verify.flatMap((line) => ['--verify', line]),
      ];
      const ended = await scriptedRun({ repository, turns: [command(planting(trap)), done], args });
      expect(ended.result.outcome, ended.stderr).toBe(outcome);
      expect(ended.result.warnings.filter((warning) => warning.includes('agent.git'))).toEqual([]);
      const gitDir = join(ended.runDir, 'agent.git');
      expect(entries(gitDir)).toEqual(LEFT);
      expect(readFileSync(join(gitDir, 'objects/info/alternates'), 'utf8')).toBe(
        `${repository.root}/.git/objects\n`,
      );
      rmSync(join(repository.root, 'trap.ran'), { force: true });
      const env = { PATH: process.env.PATH, HOME: home, GIT_PAGER_IN_USE: '1' };
      const git = (args: string[], more = {}) =>
        spawnSync('git', args, {
          cwd: repository.root,
          env: { ...env, ...more },
          encoding: 'utf8',
          timeout: PATIENCE_MS,
        });
      const log = git(['-C', gitDir, '-p', 'log', '--format=%s']);
      expect([log.status, log.stdout], log.stderr).toEqual([0, 'By the model\nStart\n']);
      const seen = { GIT_DIR: gitDir, GIT_WORK_TREE: repository.root };
      expect(git(['status', '--short'], seen).stdout).toContain(' M a.txt\n');
      for (const line of [
        ['diff'],
        ['checkout', '-q', 'side', '--', '.'],
        ['st'],
        ['rebase', '--continue'],
        ['fsck'],
      ])
        git(line, seen);
      expect([existsSync(join(home, 'trap.ran')), existsSync(join(repository.root, 'trap.ran'))]).toEqual([
        false,
        false,
      ]);
      const replayed = await runCli(
        ['replay', ended.runDir, '--repo', repository.root, '--sandbox', sandbox],
        {
          cwd: temporaryFolder(),
        },
      );
      expect(replayed.lastLine).toContain('replayed to the same patch, byte for byte');
    },
  );
});

test('a run that was killed is continued with the commits of its model, and without its settings', async () => {
  const trap = join(temporaryFolder(), 'trap');
  const run = await cutRun({ 'a.txt': 'a\n' }, [
    command(planting(`touch ${trap}`).replace(/\n[^\n]*commondir\n.*$/s, '\ntrue')),
    command(
      'git log --format=%s; git status --short; git config --get-all core.fsmonitor; ls -A $(git rev-parse --git-dir)',
    ),
    done,
  ]);
  const planted = run.events.find(({ type }) => type === 'tool.completed');
  run.goBackTo(planted?.seq ?? 0);
  expect(entries(join(run.runDir, 'agent.git'))).toContain('hooks');
  rmSync(trap, { force: true });
  const resumed = await run.resume();
  if (typeof resumed === 'string') throw new Error(resumed);
  const [, second] = resumed.events.flatMap((event) =>
    event.type === 'tool.completed' ? [event.outcome] : [],
  );
  expect(second?.text, resumed.stderr).toContain(`By the model\nStart\n M a.txt\n${LEFT.join('\n')}`);
  expect([resumed.result.outcome, existsSync(trap)]).toEqual(['done', false]);
  expect(resumed.patch).toContain('+again');
});

test('a link in the place of the whole git dir is removed, and nothing behind it', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const outside = join(temporaryFolder(), 'outside');
  mkdirSync(outside);
  for (const name of ['config', 'precious']) writeFileSync(join(outside, name), 'kept\n');
  symlinkSync('precious', join(outside, 'link'));
  const ended = await scriptedRun({
    repository,
    turns: [command(`d=$(git rev-parse --git-dir); mv $d $d.old; ln -s ${outside} $d; echo b > a.txt`), done],
    args: ['--sandbox', 'off'],
  });
  expect(ended.result.outcome, ended.stderr).toBe('done');
  expect(existsSync(join(ended.runDir, 'agent.git'))).toBe(false);
  expect(entries(outside).map((name) => readFileSync(join(outside, name), 'utf8'))).toEqual(
    Array(3).fill('kept\n'),
  );
});
