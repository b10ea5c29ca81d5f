import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { firstProgram, folderAfterCd } from '../../../src/adapters/plan/first-program.ts';
import { temporaryFolder } from '../../support/files/repository.ts';

test.each([
  ['npm test', 'npm', '.'],
  ['"npm" test; n\\pm run lint', 'npm', '.'],
  ['CI=1 npm test > log 2>&1 | tail', 'npm', '.'],
  ['cd sub && ./run.sh && b', './run.sh', './sub'],
  ['cd web; cd e2e; npx e2e', 'npx', './web/e2e'],
  ['cd web && { test -d node_modules || npm ci; }', null, './web'],
  ['(cd web && npm test)', null, '.'],
  ['cd "$PLACE" && npm test', null, '.'],
  ['$RUNNER test', null, '.'],
  ['~/bin/tool', null, '.'],
  ['PATH=bin:$PATH tool', null, '.'],
  ['npm test; (', null, '.'],
])('%j begins with %s in %s', (text, name, folder) => {
  expect([firstProgram(text)?.name ?? null, folderAfterCd(text)]).toEqual([name, folder]);
});

test.each([
  [127, 'missing'],
  [127, 'true; missing'],
  [127, 'cd . && missing'],
  [0, 'missing && true; true'],
  [0, 'cd . && missing && true; true'],
  [0, 'missing || true'],
  [0, '! missing'],
  [0, 'missing & true'],
  [0, 'if false; then missing; fi'],
])('bash ends with %i: %j', (code, text) => {
  const { status } = spawnSync('bash', ['-eo', 'pipefail', '-c', text], { cwd: temporaryFolder() });
  expect(status).toBe(code);
  if (code === 0) expect(firstProgram(text)?.name).not.toBe('missing');
  else expect(firstProgram(text)).not.toBeNull();
});
