/**
 * The whole life of a pull request, with the templates' own steps: an issue, reviews, a failed check, a conflict with the base, and
 * the merge. One step of it is killed; with PATCHSMITH_FULL each of them, in the run and in the publication.
 */

import { afterAll, expect, test } from 'vitest';
import type { Script } from '../../support/claude-server/script.ts';
import { removeFolders } from '../../support/files/repository.ts';
import { isWrite } from '../../support/github-server/server.ts';
import { openShopOnGitHub, type ShopOnGitHub } from '../../support/jobs/shop-on-github.ts';
import type { JobEnd, WorkflowRun } from '../../support/jobs/workflow-runner.ts';
import { call, done } from '../../support/runs/scripted-run.ts';
import { until } from '../../support/waiting/until.ts';

const NAME = 'acme/shop';
const STEPS = ['issue', 'comment', 'checks', 'conflicts'] as const;
type Step = (typeof STEPS)[number];
/** The job of a step that is killed; null for none. */
type Killed = { step: Step; mode: 'prepare' | 'run' | 'publish' } | null;

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  removeFolders();
});

const FULL: Killed[] = [
  { step: 'issue', mode: 'prepare' },
  { step: 'comment', mode: 'prepare' },
  ...STEPS.flatMap((step) => [
    { step, mode: 'run' as const },
    { step, mode: 'publish' as const },
  ]),
];
const SAMPLE: Killed[] = [{ step: 'conflicts', mode: 'publish' }];

test.each(process.env.PATCHSMITH_FULL ? [null, ...FULL] : SAMPLE)(
  'from the issue to the merge: one pull request, one comment, no lost commit (killed: %o)',
  async (killed) => {
    const life = await begin(killed);
    const { github, repository } = life;
    github.addIssue(NAME, { title: 'Renew a', body: 'It is old.', author: 'ann' });
    await life.step('issue', {
      name: 'issues',
      payload: await life.payload({ action: 'labeled', issue: await life.read('/issues/1'), ...LABEL }),
    });
    const { pull } = repository.issues.get(2) ?? {};
    const branch = pull?.head ?? '';
    const heads = [await repository.head(branch)];

    for (const line of [1, 5])
      github.addReview(NAME, 2, { path: 'a.txt', line, body: `Better, line ${line}.`, author: 'ann' });
    await life.step('comment', { name: 'issue_comment', payload: await life.commented(2, '/patchsmith') });
    expect(pull?.threads.map(({ comments }) => comments.length)).toEqual([2, 2]);
    heads.push(await repository.head(branch));
    // Each line has its answer, which names the commit that changed the file.
    const answers = pull?.threads.map(({ comments }) => comments.at(-1));
    expect(answers?.map((answer) => [answer?.author.login, answer?.body.split(';')[0]])).toEqual(
      [1, 2].map(() => ['github-actions[bot]', `Changed in ${heads.at(-1)}`]),
    );

    const sha = heads.at(-1) ?? '';
    github.addCheck({ sha, name: 'test', conclusion: 'failure', log: 'FAIL: c.txt is missing' });
    const shop = await life.payload();
    await life.step('checks', {
      name: 'workflow_run',
      payload: {
        action: 'completed',
        workflow_run: {
          event: 'pull_request',
          conclusion: 'failure',
          head_sha: sha,
          head_branch: branch,
          head_repository: shop.repository,
          actor: shop.sender,
        },
        ...shop,
      },
    });
    heads.push(await repository.head(branch));

    const base = await repository.commit('main', { 'a.txt': 'theirs\n2\n3\n4\nold\n', 'd.txt': 'd\n' });
    await life.step('conflicts', { name: 'push', payload: { ref: 'refs/heads/main', ...shop } });
    heads.push(await repository.head(branch), base);

    // Somebody merges it.
    const tree = await repository.git('merge-tree', '--write-tree', 'main', branch);
    const files = (await repository.git('ls-tree', '-r', '--name-only', tree)).split('\n');
    expect(files.filter((name) => !name.startsWith('.github/'))).toEqual(['a.txt', 'c.txt', 'd.txt']);
    expect(await repository.git('show', `${tree}:a.txt`)).toBe(
      'new, better, and theirs\n2\n3\n4\nlast, better',
    );
    const person = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
    const parents = ['-p', 'main', '-p', branch];
    const merged = await repository.git(...person, 'commit-tree', tree, ...parents, '-m', 'Merge');
    await repository.git('update-ref', 'refs/heads/main', merged);
    const missing = await Promise.all(
      heads.map((head) => repository.git('rev-list', '--count', `main..${head}`)),
    );
    expect([new Set(heads).size, missing]).toEqual([5, ['0', '0', '0', '0', '0']]);
    expect(repository.pulls().map(({ number, state }) => [number, state])).toEqual([[2, 'open']]);
    expect(repository.issues.get(1)?.labels.map(({ name }) => name)).toEqual(['patchsmith:done']);
    expect(pull?.draft).toBe(false);
    expect(life.said(1)).toEqual([expect.stringContaining('#2')]);
    expect(life.said(2)).toHaveLength(1);
    expect(repository.issues.get(2)?.body?.match(/^- `[0-9a-f]{12}` /gm)).toHaveLength(3);
    expect(github.invalid).toEqual([]);
  },
);

const LABEL = { label: { name: 'patchsmith' } };

const write = (path: string, content: string) => ({ calls: [call('write_file', { path, content })] });

/** What is asked for stands in the first message. */
const model: Script = (request) => {
  const messages = request.messages as unknown[];
  if (messages.length > 1) return done;
  const asked = JSON.stringify(messages[0]);
  if (asked.includes('<conflict ')) return write('a.txt', 'new, better, and theirs\n2\n3\n4\nlast, better\n');
  if (asked.includes('<check ')) return write('c.txt', 'c\n');
  if (asked.includes('<review ')) return write('a.txt', 'new, better\n2\n3\n4\nlast, better\n');
  return write('a.txt', 'new\n2\n3\n4\nold\n');
};

interface Life extends ShopOnGitHub {
  /** Carries out a template; a job that was killed is run again, as people do it. */
  step(name: Step, event: WorkflowRun['event']): Promise<void>;
  /** The comments of the bot. */
  said(number: number): string[];
}

async function begin(killed: Killed): Promise<Life> {
  const shop = await openShopOnGitHub(model, { files: { 'a.txt': 'old\n2\n3\n4\nold\n' } });
  closing.push(() => shop.close());
  const { github, model: claude } = shop;
  let victim: number | null = null;
  github.after((request) => {
    if (victim === null || !isWrite(request)) return;
    process.kill(victim, 'SIGKILL');
    victim = null;
  });
  const kill = async (mode: 'prepare' | 'run' | 'publish', pid: number) => {
    if (mode !== 'run') victim = pid;
    else {
      const asked = claude.requests.length;
      await until('the model is asked', () => claude.requests.length > asked);
      process.kill(pid, 'SIGKILL');
    }
  };
  return {
    ...shop,
    async step(name, event) {
      const isKilled = killed?.step === name;
      const first = await shop.carryOut(
        event,
        isKilled ? { kill: { mode: killed.mode, at: ({ pid }) => kill(killed.mode, pid) } } : {},
      );
      if (isKilled) expect(resultsOf(first)).toContain('failure');
      const last = isKilled ? await shop.carryOut(event, { before: first }) : first;
      expect(new Set(resultsOf(last)), logOf(last)).toEqual(new Set(['success']));
    },
    said: (number) =>
      (shop.repository.issues.get(number)?.comments ?? [])
        .filter(({ author }) => author.login === 'github-actions[bot]')
        .map(({ body }) => body),
  };
}

const resultsOf = (ends: readonly JobEnd[]) => ends.map(({ result }) => result);
const logOf = (ends: readonly JobEnd[]) =>
  ends.flatMap(({ actions }) => actions.map(({ stderr }) => stderr)).join('\n');
