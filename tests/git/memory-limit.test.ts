import { expect, test } from 'vitest';
import { commandLine } from '../../src/git/git.ts';

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
