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
  expect([exitCode, said?.outcome]).toEqual([11, 'publish_failed']);
  expect(said?.errorCode).toBe('ERR_LFS_MISSING');
  expect(said?.reason).toMatch(/^Git LFS stores big\.bin, and GitHub does not have the contents/);
  expect(said?.reason).toContain(`git add "big.bin" and git lfs push --object-id origin ${OID};`);
  expect(await find(there)).toMatchObject({ branches: [], pulls: [] });

  there.repository.lfs.add(OID);
  const again = await publish(there);
  expect(again.exitCode, again.stderr).toBe(0);
  expect((await find(there)).pulls).toHaveLength(1);
});

test('where GitHub cannot be asked for it, that is a warning', async () => {
  const there = await onGitHub(made);
  there.github.faults.add({ on: { path: /\/info\/lfs\// }, trouble: { kind: 'status', status: 503 } });
  const { exitCode, said, stderr } = await publish(there);
  expect(exitCode, stderr).toBe(0);
  expect(said?.warnings).toContainEqual(
    '[WARN_LFS_UNKNOWN] It is unknown whether GitHub has the contents of big.bin, which Git LFS stores: it answers 503.',
  );
});
