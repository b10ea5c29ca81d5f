import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endDeadRun } from '../../../src/adapters/storage/dead-run.ts';
import { runDirectoryAt } from '../../../src/adapters/storage/run-directory.ts';
import { emptyResult } from '../../../src/engine/finish/empty-result.ts';
import { temporaryFolder } from '../../support/files/repository.ts';

test('looking at a killed run with attempts removes the copies of the work tree', async () => {
  const path = temporaryFolder();
  chmodSync(path, 0o700);
  for (const name of ['attempt-1', 'verify-1']) {
    mkdirSync(join(path, 'scratch', name), { recursive: true });
    writeFileSync(join(path, 'scratch', name, '.env'), 'KEY=value\n');
  }
  writeFileSync(join(path, 'result.json'), JSON.stringify(emptyResult('20261123-000000-aaaaaa', '0.1.0')));
  expect(await endDeadRun(runDirectoryAt(path))).toMatchObject({ errorCode: 'ERR_PROCESS_DIED' });
  expect(existsSync(join(path, 'scratch/attempt-1'))).toBe(false);
  expect(existsSync(join(path, 'scratch/verify-1/.env'))).toBe(true);
});
