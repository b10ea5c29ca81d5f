import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../support/files/repository.ts';
import { ask } from '../../../support/github-server/ask.ts';
import {
  closeGitHubs,
  find,
  type MadeRun,
  madeRun,
  NAME,
  type OnGitHub,
  onGitHub,
  publish,
} from '../../../support/jobs/publishing.ts';
import { call, scriptedRun } from '../../../support/runs/scripted-run.ts';
import { testAtNight } from '../../../support/setup/at-night.ts';

let made: MadeRun;
/** A run of the same plan that changes nothing. */
let idle: string;

beforeAll(async () => {
  made = await madeRun({ 'a.txt': 'old\n', 'b.txt': 'b\n' }, [
    { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] },
    { text: 'Done.' },
  ]);
  const { repository } = made;
  await repository.git('stash', '--include-untracked');
  const ran = await scriptedRun({ repository, turns: [{ text: 'Nothing to do.' }] });
  expect(ran.result.outcome).toBe('no_change');
  idle = ran.runDir;
});

afterAll(closeGitHubs);
/** The same GitHub, on which the idle run is published. */
function withIdle(there: OnGitHub): OnGitHub {
  const artifact = join(temporaryFolder(), 'artifact');
  cpSync(idle, artifact, { recursive: true });
  return { ...there, artifact };
}

async function published(): Promise<OnGitHub & { branch: string; number: number }> {
  const there = await onGitHub(made);
  const { said, stderr } = await publish(there);
  expect(said?.exitCode, stderr).toBe(0);
  return { ...there, branch: said?.branch ?? '', number: said?.pullRequest?.number ?? 0 };
}

const commentsOf = ({ repository, number }: Awaited<ReturnType<typeof published>>) =>
  repository.issues.get(number)?.comments.map(({ body }) => body.split('\n')[0]) ?? [];

describe('a later run that finds nothing to change', () => {
  test('says so on the open pull request, once', async () => {
    const there = await published();
    for (const _ of [1, 2]) {
      const { exitCode, said, stderr } = await publish(withIdle(there));
      expect([exitCode, said?.outcome, said?.pullRequest], stderr).toEqual([0, 'no_change', null]);
      expect(said?.reason).toContain(`Pull request #${there.number} of an earlier run is still open`);
    }
    expect(commentsOf(there)).toEqual(['**This may not be needed any more**']);
    expect((await find(there)).pulls).toMatchObject([{ state: 'open' }]);
    expect(there.github.invalid).toEqual([]);
  });

  testAtNight('closes it with --stale close, and deletes the branch with --delete-branch', async () => {
    const there = await published();
    const args = ['--stale', 'close', '--delete-branch'];
    const dry = await publish(withIdle(there), { args: [...args, '--dry-run'] });
    expect(dry.stderr).toMatch(
      /would PATCH .*"state":"closed"[\s\S]*would git push .* :refs\/heads\/patchsmith\//,
    );
    const { exitCode, said, stderr } = await publish(withIdle(there), { args });
    expect([exitCode, said?.outcome], stderr).toEqual([0, 'no_change']);
    expect(said?.pullRequest).toMatchObject({ number: there.number, operation: 'closed' });
    expect(said?.reason).toContain('was closed, and its branch deleted');
    expect(commentsOf(there)).toEqual(['**Closed: there is nothing left to change**']);
    expect(await find(there)).toMatchObject({ branches: [], pulls: [{ state: 'closed' }] });

    // What we closed ourselves is no decision of people; a branch that is gone cannot be reopened.
    const again = await publish(there);
    expect(again.said?.pullRequest?.operation, again.stderr).toBe('created');
    expect(there.github.invalid).toEqual([]);
  });

  test('never closes what people have built on, nor does anything with --stale keep', async () => {
    const there = await published();
    await there.repository.commit(there.branch, { 'b.txt': 'mine\n' }, { author: 'Ann Onym' });
    const kept = await publish(withIdle(there), { args: ['--stale', 'keep'] });
    expect([kept.exitCode, commentsOf(there)]).toEqual([0, []]);
    const { said } = await publish(withIdle(there), { args: ['--stale', 'close', '--delete-branch'] });
    expect(said?.reason).toContain('is still open, since its branch has commits by others');
    expect((await find(there)).pulls).toMatchObject([{ state: 'open' }]);
    expect(commentsOf(there)).toEqual(['**This may not be needed any more**']);
  });

  test('deletes no branch that people push to meanwhile', async () => {
    const there = await published();
    let theirs = '';
    there.github.before(async ({ operation, method }) => {
      if (operation !== 'git-http/receive-pack' && method !== 'DELETE') return;
      theirs ||= await there.repository.commit(there.branch, { 'b.txt': 'mine\n' });
    });
    const { exitCode, said } = await publish(withIdle(there), {
      args: ['--stale', 'close', '--delete-branch'],
    });
    expect([exitCode, said?.reason]).toEqual([0, expect.stringContaining('its branch has moved')]);
    expect(await there.repository.head(there.branch)).toBe(theirs);
  });
});

describe('a pull request that was closed without being merged', () => {
  test('is opened again when we closed it ourselves', async () => {
    const there = await published();
    await publish(withIdle(there), { args: ['--stale', 'close'] });
    expect((await find(there)).pulls).toMatchObject([{ state: 'closed' }]);
    const again = await publish(there);
    expect(again.said?.pullRequest, again.stderr).toMatchObject({ number: there.number });
    expect((await find(there)).pulls).toMatchObject([{ state: 'open' }]);
  });

  test('stays closed when another one of its branch was closed since', async () => {
    const there = await published();
    const [ours] = there.repository.pulls();
    if (ours !== undefined) ours.state = 'closed';
    const body = { title: 'Mine', head: there.branch, base: 'main' };
    const { github, token } = there;
    expect((await ask(github, token, `POST /repos/${NAME}/pulls`, body)).status).toBe(201);
    for (const pull of there.repository.pulls()) pull.state = 'closed';
    const { exitCode, said, stderr } = await publish(there);
    expect([exitCode, said?.errorCode], stderr).toEqual([11, 'ERR_PULL_REQUEST_CLOSED']);
    expect((await find(there)).pulls.map(({ state }) => state)).toEqual(['closed', 'closed']);
  });

  test('stays closed when people close it while it is updated', async () => {
    const there = await published();
    await there.repository.commit('main', { 'b.txt': 'more\n' });
    there.github.before(({ operation }) => {
      const [pull] = there.repository.pulls();
      if (operation === 'git-http/receive-pack' && pull !== undefined) pull.state = 'closed';
    });
    const { exitCode, said, stderr } = await publish(there);
    expect([exitCode, said?.errorCode], stderr).toEqual([11, 'ERR_PULL_REQUEST_CLOSED']);
    expect((await find(there)).pulls).toMatchObject([{ number: there.number, state: 'closed' }]);
  });
});
