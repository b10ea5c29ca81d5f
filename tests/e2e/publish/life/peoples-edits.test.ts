import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeGitHubs, type MadeRun, madeRun, onGitHub, publish } from '../../../support/jobs/publishing.ts';
import { call } from '../../../support/runs/scripted-run.ts';

let made: MadeRun;

beforeAll(async () => {
  made = await madeRun({ 'a.txt': 'old\n', 'b.txt': 'b\n' }, [
    { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] },
    { text: 'Done.' },
  ]);
});

afterAll(closeGitHubs);
test('what people changed in title and body survives the next run, and the rest is brought up to date', async () => {
  const there = await onGitHub(made, { issue: true });
  expect(await publish(there)).toMatchObject({ exitCode: 0 });
  const [pull] = there.repository.pulls();
  if (pull === undefined) throw new Error('There is no pull request');
  const before = pull.body ?? '';
  pull.title = 'Our own words';
  pull.body = `Please read this first.\n\n${before}\n\n- [x] tried by hand`.replaceAll('\n', '\r\n');
  const base = await there.repository.commit('main', { 'b.txt': 'B\n' });

  const again = await publish(there, { args: ['--title-prefix', 'bot:'] });
  expect(again).toMatchObject({ exitCode: 0, said: { pullRequest: { operation: 'updated' }, warnings: [] } });
  const [now] = there.repository.pulls();
  expect(now?.title).toBe('Our own words');
  expect(now?.body).toMatch(
    /^Please read this first\.\n\n<!-- patchsmith:\w+ begin[\s\S]*\n\n- \[x\] tried by hand$/,
  );
  expect(now?.body).toContain(base.slice(0, 12));
  expect(now?.body?.match(/Fixes #1/g)).toHaveLength(1);

  const third = await publish(there, { args: ['--title-prefix', 'bot:'] });
  expect(third.said?.pullRequest?.operation).toBe('none');
  expect(there.github.invalid).toEqual([]);
});

test('a text without our markers is left alone, with a warning', async () => {
  const there = await onGitHub(made);
  await publish(there);
  const [pull] = there.repository.pulls();
  if (pull === undefined) throw new Error('There is no pull request');
  pull.body = 'All mine.';
  const again = await publish(there);
  expect(again.exitCode, again.stderr).toBe(0);
  expect(again.said?.warnings).toEqual([
    `[WARN_TEXT_LEFT] The text of pull request #${pull.number} is left unchanged: people wrote it, or removed the markers around patchsmith's part.`,
  ]);
  expect(there.repository.pulls()[0]?.body).toBe('All mine.');
});
