import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  closeGitHubs,
  find,
  type MadeRun,
  madeRun,
  onGitHub,
  publish,
} from '../../support/jobs/publishing.ts';
import { call } from '../../support/runs/scripted-run.ts';

const CONTENT = 'a large file\n';
const OID = createHash('sha256').update(CONTENT).digest('hex');

let made: MadeRun;

beforeAll(async () => {
  const files = { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'a.txt': 'a\n' };
  made = await madeRun(files, [
    { calls: [call('write_file', { path: 'big.bin', content: CONTENT })] },
    { text: 'Done.' },
  ]);
});

afterAll(closeGitHubs);
test('a pointer without content on GitHub is not published, and the reason says how to push it', async () => {
  const there = await onGitHub(made);
  const { exitCode, said } = await publish(there);
  expect([exitCode, said?.errorCode]).toEqual([11, 'ERR_GITHUB_REFUSED']);
  expect(said?.reason).toContain(`GH008: Your push referenced at least 1 unknown Git LFS object: ${OID} `);
  expect(said?.reason).toContain('git lfs push --object-id origin with the ids; then publish again.');
  expect(await find(there)).toMatchObject({ branches: [], pulls: [] });

  there.repository.lfs.add(OID);
  const again = await publish(there);
  expect(again.exitCode, again.stderr).toBe(0);
  expect((await find(there)).pulls).toHaveLength(1);
});
