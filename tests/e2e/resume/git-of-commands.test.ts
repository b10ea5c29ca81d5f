/** The git dir of commands: gone once the run has ended, and made anew when it is carried on. */

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
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { cutRun } from '../../support/runs/recorded-run.ts';
import { command, done, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

/** Commits, and plants what git runs. */
function planting(trap: string): string {
  return [
    'd=$(git rev-parse --git-dir)',
    'echo more > a.txt; git commit -qam "By the model"; echo again > a.txt',
    `for name in core.fsmonitor core.pager diff.external core.sshCommand; do git config $name "${trap}"; done`,
    `mkdir -p $d/hooks; printf '#!/bin/sh\\n${trap}\\n' > $d/hooks/post-index-change; chmod +x $d/hooks/*`,
  ].join('\n');
}

/** Leads git elsewhere, and is hard to remove. */
const HARD = [
  'ln -s / $d/linked; mkdir -p $d/closed/deep; chmod 000 $d/closed; mkfifo $d/shallow',
  'rm $d/objects/info/alternates; ln -s /etc/passwd $d/objects/info/alternates; chmod 500 $d $d/objects; true',
];

test.each(sampled(['required', 'off'], () => 'sandbox'))(
  'with --sandbox %s nothing of it is left when the run has ended',
  async (sandbox) => {
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    const trap = join(temporaryFolder(), 'trap');
    const turns = [command([planting(`touch ${trap}`), ...HARD].join('\n')), done];
    const ended = await scriptedRun({ repository, turns, args: ['--sandbox', sandbox] });
    expect(ended.result.outcome, ended.stderr).toBe('done');
    expect(ended.patch).toContain('+again');
    expect(existsSync(join(ended.runDir, 'scratch'))).toBe(false);
    expect(existsSync(trap)).toBe(false);
  },
);

test('a run that was killed is continued without the settings of its model', async () => {
  const trap = join(temporaryFolder(), 'trap');
  const run = await cutRun({ 'a.txt': 'a\n' }, [
    command(planting(`touch ${trap}`)),
    command('git log --format=%s; git status --short; git config --get-all core.fsmonitor; true'),
    done,
  ]);
  const planted = run.events.find(({ type }) => type === 'tool.completed');
  run.goBackTo(planted?.seq ?? 0);
  rmSync(trap, { force: true });
  const resumed = await run.resume();
  if (typeof resumed === 'string') throw new Error(resumed);
  const [, second] = resumed.events.flatMap((event) =>
    event.type === 'tool.completed' ? [event.outcome] : [],
  );
  expect(second?.text, resumed.stderr).toBe('Start\n M a.txt\n[exit code 0]');
  expect([resumed.result.outcome, existsSync(trap)]).toEqual(['done', false]);
  expect(resumed.patch).toContain('+again');
});

test('a link in its place is removed, and nothing behind it', async () => {
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
  expect(existsSync(join(ended.runDir, 'scratch'))).toBe(false);
  const left = readdirSync(outside).map((name) => readFileSync(join(outside, name), 'utf8'));
  expect(left).toEqual(Array(3).fill('kept\n'));
});
