import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pngImage } from '../../support/files/images.ts';
import { makeRepository } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

const finish = { calls: [call('finish', { status: 'done', summary: 'Looked.' })] };
const write = { calls: [call('write_file', { path: 'alt.txt', content: 'A black image.\n' })] };

test('the model is shown an image, which the journal has, and a replay shows the same', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  writeFileSync(join(repository.root, 'shot.png'), pngImage(40, 30));
  const run = await scriptedRun({
    repository,
    turns: [{ calls: [call('read_file', { path: 'shot.png' })] }, write, finish],
  });
  expect(run.exitCode, run.stderr).toBe(0);
  const data = pngImage(40, 30).toString('base64');
  expect(run.events.find(({ type }) => type === 'tool.completed')).toMatchObject({
    outcome: { images: [{ mediaType: 'image/png', width: 40, height: 30, data }] },
  });
  // Every later request has it at the same place.
  const withImage = run.server.requests.filter(({ body }) => JSON.stringify(body).includes(data));
  expect(withImage).toHaveLength(2);
  expect(readFileSync(join(run.runDir, 'report.html'), 'utf8')).not.toContain(data);
  const replay = await runCli(['replay', run.runDir, '--repo', repository.root], { cwd: repository.root });
  expect(replay.exitCode, replay.stderr).toBe(0);
  expect(replay.stderr).toContain('replayed to the same patch');
});

test('an image that the API refuses is taken back, and the run continues', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  const broken = pngImage(40, 30);
  writeFileSync(join(repository.root, 'good.png'), broken);
  writeFileSync(join(repository.root, 'bad.png'), Buffer.concat([broken.subarray(0, 60), Buffer.alloc(50)]));
  const run = await scriptedRun({
    repository,
    turns: [
      { calls: [call('read_file', { path: 'good.png' })] },
      { thinking: 'Now the other one.', calls: [call('read_file', { path: 'bad.png' })] },
      write,
      finish,
    ],
  });
  expect(run.exitCode, run.stderr).toBe(0);
  expect(run.server.requests.map(({ refused }) => refused !== null)).toEqual([
    false,
    false,
    true,
    false,
    false,
  ]);
  expect(JSON.stringify(run.server.requests.at(-1)?.body)).toContain('Not shown after all');
  expect(run.events.find(({ type }) => type === 'turn.failed')).toMatchObject({ kind: 'invalid_request' });
  const replay = await runCli(['replay', run.runDir, '--repo', repository.root], { cwd: repository.root });
  expect(replay.stderr).toContain('replayed to the same patch');
});
