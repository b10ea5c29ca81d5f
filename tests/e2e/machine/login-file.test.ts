/** The login of a cloud must be out of the model's reach. */

import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { scriptedRun } from '../../support/runs/scripted-run.ts';

test('no run begins where a login lies in the work tree, whatever way leads there', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n', '.gitignore': 'gha-creds-*.json\n' });
  const file = join(repository.root, 'gha-creds-1.json');
  writeFileSync(file, '{}');
  const link = join(temporaryFolder(), 'login.json');
  symlinkSync(file, link);
  const begin = (GOOGLE_APPLICATION_CREDENTIALS: string) =>
    scriptedRun({ repository, turns: [{ text: 'Done.' }], env: { GOOGLE_APPLICATION_CREDENTIALS } });
  for (const path of [file, link]) {
    const { exitCode, lastLine, server } = await begin(path);
    expect([exitCode, server.requests.length]).toEqual([2, 0]);
    expect(lastLine).toContain(
      '[ERR_LOGIN_IN_TREE]: The file of GOOGLE_APPLICATION_CREDENTIALS lies in the work tree (gha-creds-1.json)',
    );
  }
  const outside = join(temporaryFolder(), 'login.json');
  writeFileSync(outside, '{}');
  expect((await begin(outside)).exitCode).toBe(0);
  expect((await begin(join(repository.root, 'gone.json'))).exitCode).toBe(0);
});
