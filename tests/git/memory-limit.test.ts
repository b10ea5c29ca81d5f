/** How git is started: within a limit of its memory where it reads what others wrote, and two calls in one process. */

import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CutShort } from '../../src/domain/run/cut-short.ts';
import { until } from '../../src/files/time-limit.ts';
import { askGit, commandLine } from '../../src/git/git.ts';
import { tempFolder } from '../support/files/temp-folder.ts';
import { until as eventually } from '../support/waiting/until.ts';

const limits = (...args: string[]) => commandLine('/usr/bin/git', args).program === '/bin/sh';

test.each([
  ['config', '--list', '-z'],
  ['-c', 'core.pager=cat', 'config', '--list'],
  ['--git-dir=/a', 'rev-parse', '--show-object-format'],
  ['rev-parse', '--verify', '--quiet', 'HEAD'],
  ['symbolic-ref', '--quiet', 'HEAD'],
])('a question about settings and names of refs needs no limit: git %s %s %s', (...args) => {
  expect(commandLine('/usr/bin/git', args)).toEqual({ program: '/usr/bin/git', args });
});

test('whatever reads contents of others is limited, and so is whatever is not known', () => {
  expect(limits('rev-parse', '--verify', 'HEAD^{tree}')).toBe(true);
  expect(limits('--git-dir=/a', 'cat-file', '--batch')).toBe(true);
  expect(limits('-c', 'config', 'diff-tree', 'a', 'b')).toBe(true);
  expect(limits('-c', 'alias.x=config', 'check-ignore', 'config')).toBe(true);
  expect(limits('update-ref', 'HEAD', 'a')).toBe(true);
  expect(limits()).toBe(true);
});

test('a second call follows in the same process if the first succeeds, and only then', async () => {
  const cwd = tempFolder({});
  const ask = (first: string, next: readonly string[]) =>
    askGit({ cwd, args: ['config', '--file', first, '--get', 'some.name'], next });
  writeFileSync(join(cwd, 'some'), '[some]\n\tname = a value\n');
  const second = ['-c', 'some.other=the $0 "second" * one', 'config', '--get', 'some.other'];
  const both = await ask('some', second);
  expect([both.exitCode, both.stdout.toString()]).toEqual([0, 'a value\nthe $0 "second" * one\n']);
  const neither = await ask('missing', second);
  expect([neither.exitCode, neither.stdout.toString()]).toEqual([1, '']);
});

test('both of two calls are killed when the time is over', async () => {
  const cwd = tempFolder({});
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  const over = new AbortController();
  const asked = until(over.signal, () =>
    askGit({ cwd, args: ['config', '--file', 'pipe', '--list'], next: ['config', '--list'] }),
  );
  const reading = () => processesWith(cwd).length;
  await eventually('git waits for the pipe', () => reading() > 0);
  over.abort();
  await expect(asked).rejects.toBeInstanceOf(CutShort);
  await eventually('nothing of it is left', () => reading() === 0);
});

/** Processes that run in a folder. */
function processesWith(cwd: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === cwd;
    } catch {
      return false;
    }
  });
}
