import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { OutputPipes } from '../../../../src/adapters/sandboxes/command/output-pipe.ts';
import { temporaryFolder } from '../../../support/files/repository.ts';

test('commands that start together share the pipes that are created', async () => {
  const opened = () => readdirSync('/proc/self/fd').length;
  const before = opened();
  const pipes = new OutputPipes(temporaryFolder());
  const all = await Promise.all(Array.from({ length: 16 }, () => pipes.open(() => {})));
  expect(opened() - before).toBeLessThan(2 * 16 + 10);
  for (const { output, closeWriter } of all) {
    closeWriter();
    output.destroy();
  }
  pipes.close();
});
