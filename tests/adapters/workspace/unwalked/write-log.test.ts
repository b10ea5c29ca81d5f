import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WriteLog } from '../../../../src/adapters/workspace/unwalked/write-log.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';

const by = (call: string) => ({
  source: { by: 'tool' as const, tool: 'run_command', calls: [call] },
  iteration: 1,
});

test('a later process knows who wrote what, and takes a command that was cut off to have run until then', () => {
  const file = join(tempFolder(), 'write-log');
  const first = new WriteLog(file);
  first.begin(by('a'), 10n);
  first.end(20n);
  first.wrote('x\udcff', 25n, by('w'));
  first.begin(by('b'), 30n);
  expect([first.writerOf('y', 99n), first.writerOf('y', 9n)]).toEqual([by('b'), 'outside']);
  appendFileSync(file, '{"to":"3');

  const next = new WriteLog(file);
  next.recall(40n);
  const writers = [9n, 10n, 20n, 21n, 30n, 40n, 41n].map((at) => next.writerOf('y', at));
  expect(writers).toEqual(['outside', by('a'), by('a'), 'outside', by('b'), by('b'), 'outside']);
  expect(next.writerOf('x\udcff', 25n)).toEqual(by('w'));
  const last = new WriteLog(file);
  last.recall(50n);
  expect(last.writerOf('y', 41n)).toBe('outside');
  next.distrust();
  expect([next.writerOf('y', 10n), next.writerOf('x\udcff', 25n)]).toEqual([null, by('w')]);
});
