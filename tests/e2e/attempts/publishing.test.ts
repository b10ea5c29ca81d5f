/** Publishing a run of several attempts: the one that was chosen, and another in its place. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { conversations } from '../../support/claude-server/conversations.ts';
import { closeGitHubs, madeRun, onGitHub, publish } from '../../support/jobs/publishing.ts';
import { call } from '../../support/runs/scripted-run.ts';

afterAll(closeGitHubs);
const wrote = (content: string) => [
  { calls: [call('write_file', { path: 'a.txt', content })] },
  { calls: [call('finish', { status: 'done', summary: 'Done.' })] },
];

const resultIn = (path: string) => JSON.parse(readFileSync(join(path, 'result.json'), 'utf8'));

test('the chosen attempt is published as the run, and another one takes its place in the same pull request', async () => {
  const turns = conversations(wrote('ONE\nTWO\n'), wrote('ONE\ntwo\n'));
  const made = await madeRun({ 'a.txt': 'one\ntwo\n' }, turns, { args: ['--attempts', '2'] });
  const at = await onGitHub(made, { issue: true });
  const first = await publish(at);
  expect(first.exitCode, first.stderr).toBe(0);
  const branch = first.said?.branch ?? '';
  const textOf = () => at.repository.git('show', `${branch}:a.txt`);
  expect(await textOf()).toBe('ONE\ntwo');
  const { chosen, why } = made.result.attempts ?? {};
  // The parentheses of the reason are escaped there.
  const bodies = () => at.repository.pulls().map(({ body }) => body?.replaceAll('\\', ''));
  expect(bodies()).toEqual([expect.stringContaining(`\n- Attempt: number ${chosen} of 2: ${why}\n`)]);
  const comments = [...at.repository.issues.values()].flatMap((issue) => issue.comments);
  expect(comments.map(({ body }) => body)).toEqual([
    expect.stringContaining(`Attempt number ${chosen} of 2`),
  ]);

  const other = made.result.attempts?.list.find(({ number }) => number !== chosen);
  const run = join(at.artifact, 'attempts', String(other?.number));
  // As if it had come from the same issue, which the run of this test has not.
  const said = { ...resultIn(run), plan: resultIn(at.artifact).plan };
  writeFileSync(join(run, 'result.json'), JSON.stringify(said));
  const second = await publish(at, { run });
  expect(second.exitCode, second.stderr).toBe(0);
  expect(second.said?.pullRequest).toMatchObject({ operation: 'updated' });
  expect(await textOf()).toBe('ONE\nTWO');
  expect(bodies()).toEqual([expect.not.stringContaining('- Attempt: ')]);
});
