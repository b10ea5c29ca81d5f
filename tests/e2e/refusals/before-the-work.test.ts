/** Each refusal before a model is paid, as the maintainer reads it: the whole of the log, the comment and the label. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeRepository, removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { ask } from '../../support/github-server/ask.ts';
import { type GitHub, type GitHubRepository, startGitHub } from '../../support/github-server/server.ts';
import { runAction } from '../../support/jobs/action-runner.ts';
import { asRead } from '../../support/jobs/as-read.ts';
import { JOB_PERMISSIONS, NAME } from '../../support/jobs/publishing.ts';
import { KEY } from '../../support/runs/scripted-run.ts';
import { sha256Of } from '../../support/text/sha256.ts';

let root: string;
let github: GitHub;
let shop: GitHubRepository;

beforeAll(async () => {
  ({ root } = await makeRepository({ 'a.txt': 'a\n' }));
  github = await startGitHub();
  shop = await github.addRepository(NAME, { from: root, collaborators: { ann: 'write' }, teams: ['core'] });
});
afterAll(async () => {
  expect(github.invalid).toEqual([]);
  await github.close();
  removeFolders();
});

interface Asked {
  readonly inputs?: Readonly<Record<string, string>>;
  readonly permissions?: Readonly<Record<string, 'read' | 'write'>>;
  readonly author?: string;
  readonly event?: { readonly name: string; readonly payload: Record<string, unknown> };
}

/** A new issue with the label, and a step of the template for it. */
async function step({ inputs = {}, permissions = JOB_PERMISSIONS, author = 'ann' }: Asked = {}) {
  const { number } = github.addIssue(NAME, { title: 'Renew a', author, labels: ['patchsmith'] });
  return { number, ...(await again(number, { inputs, permissions })) };
}

async function again(number: number, { inputs = {}, permissions = JOB_PERMISSIONS, event }: Asked) {
  const token = github.addToken({ kind: 'installation', permissions });
  const isForIssue = !['run', 'resume'].includes(inputs.mode ?? 'run');
  const ended = await runAction({
    workspace: inputs.mode === 'publish' ? temporaryFolder() : root,
    inputs: {
      'github-token': token,
      ...(isForIssue ? { issue: String(number), 'trigger-label': 'patchsmith' } : {}),
      ...inputs,
    },
    ...(event && { event: event.payload }),
    env: {
      ...(event && { GITHUB_EVENT_NAME: event.name }),
      GITHUB_REPOSITORY: NAME,
      GITHUB_API_URL: github.url,
      GITHUB_SERVER_URL: github.serverUrl,
      GITHUB_RUN_ID: '7',
    },
  });
  const read = asRead({ stderr: ended.stderr, issue: shop.issues.get(number) });
  return { ended, read: read.replaceAll(`#${number}`, '#1').replaceAll(`issue-${number}`, 'issue-1') };
}

/** The job that carries out the plan is refused, and the one that publishes says so. */
async function bothJobs(asked: Asked & { author?: string }): Promise<string> {
  const { number } = github.addIssue(NAME, {
    title: 'Renew a',
    author: asked.author ?? 'ann',
    labels: ['patchsmith:running'],
  });
  const ran = await again(number, {
    ...asked,
    inputs: { 'plan-from-issue': String(number), 'api-key': KEY, sandbox: 'auto', ...asked.inputs },
  });
  const runDir = ran.ended.outputs['run-dir'] || temporaryFolder();
  const published = await again(number, { inputs: { mode: 'publish', 'run-dir': runDir } });
  // Both jobs agree.
  expect(published.ended.outputs.outcome).toBe(ran.ended.outputs.outcome);
  const of = new RegExp(`(?<=[Ii]ssue )${number}\\b`, 'g');
  return `${ran.read.split('\n\n#1')[0]}\n\n${published.read.split('\n\n').slice(1).join('\n\n')}`.replaceAll(
    of,
    '1',
  );
}

const prepare = { mode: 'prepare' };

describe('the job that checks first', () => {
  test('Actions may not open pull requests', async () => {
    shop.settings.actionsMayOpenPulls = false;
    const { read } = await step({ inputs: prepare });
    shop.settings.actionsMayOpenPulls = true;
    expect(read).toMatchInlineSnapshot(`
      "comment on #1 created
      patchsmith: publish_failed (exit 11) [ERR_GITHUB_REFUSED]: Publishing would fail: GitHub refused to open the pull request (403, request ID): GitHub Actions is not permitted to create or approve pull requests. Turn on "Allow GitHub Actions to create and approve pull requests" in Settings → Actions → General → Workflow permissions, of the repository or the organisation, or use the token of a GitHub App.

      #1 [patchsmith:failed]
      **The run was not started**

      Publishing would fail: GitHub refused to open the pull request (403, request ID): GitHub Actions is not permitted to create or approve pull requests. Turn on "Allow GitHub Actions to create and approve pull requests" in Settings → Actions → General → Workflow permissions, of the repository or the organisation, or use the token of a GitHub App.

      No model was asked, since its work could not be published. When that is fixed, run it again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('nothing stands in the way', async () => {
    expect((await step({ inputs: prepare })).read).toMatchInlineSnapshot(`
      "comment on #1 created
      patchsmith: done (exit 0): GitHub permits the publication; the run can start.

      #1 [patchsmith:running]
      **Working on it**

      This comment will say what came of it.

      Stop it by cancelling the workflow run. [See it work](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('a permission is missing', async () => {
    const permissions = { ...JOB_PERMISSIONS, contents: 'read' } as const;
    expect((await step({ inputs: prepare, permissions })).read).toMatchInlineSnapshot(`
      "comment on #1 created
      patchsmith: publish_failed (exit 11) [ERR_GITHUB_REFUSED]: Publishing would fail: GitHub refused to store a file (403, request ID): Resource not accessible by integration. The token lacks contents: write: add it to the permissions of the job, or use a token that has it.

      #1 [patchsmith:failed]
      **The run was not started**

      Publishing would fail: GitHub refused to store a file (403, request ID): Resource not accessible by integration. The token lacks contents: write: add it to the permissions of the job, or use a token that has it.

      No model was asked, since its work could not be published. When that is fixed, run it again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('the permission to comment is missing', async () => {
    const permissions = { contents: 'write', pull_requests: 'read', issues: 'read' } as const;
    expect((await step({ inputs: prepare, permissions })).read).toMatchInlineSnapshot(`
      "warning: [WARN_NO_COMMENT] GitHub refused to comment on the issue (403, request ID): Resource not accessible by integration. The token lacks issues: write: add it to the permissions of the job, or use a token that has it.
      warning: [WARN_LABEL_NOT_SET] GitHub refused to add the labels (403, request ID): Resource not accessible by integration.
      patchsmith: publish_failed (exit 11) [ERR_GITHUB_REFUSED]: Publishing would fail: GitHub refused to open the pull request (403, request ID): Resource not accessible by integration. The token lacks pull-requests: write: add it to the permissions of the job, or use a token that has it."
    `);
  });

  test('the repository is archived', async () => {
    shop.settings.archived = true;
    const { read } = await step({ inputs: prepare });
    shop.settings.archived = false;
    expect(read).toMatchInlineSnapshot(`
      "warning: [WARN_NO_COMMENT] GitHub refused to comment on the issue (403, request ID): Repository was archived so is read-only. Nothing can be published in an archived repository.
      warning: [WARN_LABEL_NOT_SET] GitHub refused to add the labels (403, request ID): Repository was archived so is read-only.
      patchsmith: publish_failed (exit 11) [ERR_REPOSITORY_CLOSED]: The repository acme/shop is archived, so nothing can be published in it."
    `);
  });

  test('a branch stands in the way of all others', async () => {
    const head = (await shop.head('main')) ?? '';
    await shop.git('update-ref', 'refs/heads/patchsmith', head);
    const { read } = await step({ inputs: prepare });
    await shop.git('update-ref', '-d', 'refs/heads/patchsmith');
    expect(read).toMatchInlineSnapshot(`
      "comment on #1 created
      patchsmith: publish_failed (exit 11) [ERR_BRANCH_NAME_TAKEN]: The repository acme/shop has a branch patchsmith, so it cannot have branches below it, such as patchsmith/x. Rename it, or choose another name with --branch.

      #1 [patchsmith:failed]
      **The run was not started**

      The repository acme/shop has a branch patchsmith, so it cannot have branches below it, such as patchsmith/x. Rename it, or choose another name with the input branch.

      No model was asked, since its work could not be published. When that is fixed, run it again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('the rules of the branch refuse its commits', async () => {
    shop.settings.rules = [{ type: 'required_signatures' }];
    const { read } = await step({ inputs: prepare });
    shop.settings.rules = [];
    expect(read).toContain(
      'publish_failed (exit 11) [ERR_GITHUB_REFUSED]: The branch patchsmith/x of acme/shop would be refused, since its rules require signed commits: use --sign required, with GITHUB_TOKEN or the token of a GitHub App.',
    );
    expect(read).toContain('**The run was not started**');
  });

  test('the comment is on a pull request of others: one answer, to those with write access', async () => {
    await shop.commit('feature', { 'b.txt': 'b\n' }, { author: 'Ben' });
    const token = github.addToken({
      kind: 'user',
      login: 'ann',
      permissions: { contents: 'write', pull_requests: 'write', issues: 'read' },
    });
    const wanted = { title: 'Ours', head: 'feature', base: 'main' };
    const { number } = (await ask(github, token, `POST /repos/${NAME}/pulls`, wanted)).body;
    const repository = (await ask(github, token, `GET /repos/${NAME}`)).body;
    const commented = async (login: string) => {
      const { id } = github.addComment(NAME, number, { body: '/patchsmith also c', author: login });
      const comment = (await ask(github, token, `GET /repos/${NAME}/issues/comments/${id}`)).body;
      const issue = (await ask(github, token, `GET /repos/${NAME}/issues/${number}`)).body;
      const sender = { login, id: github.addUser(login).id, type: 'User' };
      return again(number, {
        inputs: { ...prepare, continue: 'auto', 'trigger-label': '' },
        event: { name: 'issue_comment', payload: { action: 'created', comment, issue, repository, sender } },
      });
    };
    const answers = () =>
      shop.issues.get(number)?.comments.filter(({ author }) => author.type === 'Bot') ?? [];
    const stranger = await commented('eve');
    expect([stranger.ended.outputs['error-code'], answers()]).toEqual(['ERR_NO_WRITE_ACCESS', []]);
    const first = await commented('ann');
    expect([first.ended.exitCode, first.ended.outputs['error-code']]).toEqual([
      8,
      'ERR_NOT_OUR_PULL_REQUEST',
    ]);
    const said = answers();
    expect(
      said.map(({ body }) => body.replace(/\n\n<!--.*/, '').replace(/;\d+/, ';1')),
    ).toMatchInlineSnapshot(`
      [
        "**This request was not accepted**

      Pull request #&#8203;1 is not continued: its text has no record of patchsmith, so it is not one of its pull requests. In a checkout of it, patchsmith run --read-only answers questions and changes nothing; patchsmith run --publish opens a pull request into its branch.

      Nothing was run, and no model was asked.",
      ]
    `);
    const repeated = await commented('ann');
    expect(repeated.ended.outputs['error-code']).toBe('ERR_NOT_OUR_PULL_REQUEST');
    expect(answers()).toEqual(said);
  });

  test('the branch to merge into does not exist', async () => {
    expect((await step({ inputs: { ...prepare, base: 'mian' } })).read).toMatchInlineSnapshot(`
      "comment on #1 created
      patchsmith: publish_failed (exit 11) [ERR_BRANCH_MISSING]: There is no branch mian in acme/shop. Name one with --base.

      #1 [patchsmith:failed]
      **The run was not started**

      There is no branch mian in acme/shop. Name one with the input base.

      No model was asked, since its work could not be published. When that is fixed, run it again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('others have committed to the branch of the issue', async () => {
    const number = Math.max(...shop.issues.keys()) + 1;
    const id = sha256Of(`${github.serverUrl}/${NAME}/issues/${number}`).slice(0, 8);
    await shop.commit(`patchsmith/issue-${number}-${id}`, { 'b.txt': 'b\n' }, { author: 'Ben' });
    expect((await step({ inputs: prepare })).read).toMatchInlineSnapshot(`
      "comment on #1 created
      patchsmith: publish_failed (exit 11) [ERR_COMMITS_OF_OTHERS]: The branch patchsmith/issue-1-ID has commits by others (ID by Ben), which are not overwritten. To build on them, comment /patchsmith and what to do on its pull request (--continue); otherwise merge or delete the branch, or choose another one with --branch.

      #1 [patchsmith:failed]
      **The run was not started**

      The branch patchsmith/issue-1-ID has commits by others (ID by Ben), which are not overwritten. To build on them, comment /patchsmith and what to do on its pull request (the input continue); otherwise merge or delete the branch, or choose another one with the input branch.

      No model was asked, since its work could not be published. When that is fixed, run it again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('others have committed to the branch of a plan without an issue: its pull request says so', async () => {
    const branch = `patchsmith/weekly-${sha256Of(`${NAME}:plans/weekly.md`).slice(0, 8)}`;
    await shop.commit(branch, { 'b.txt': 'b\n' }, { author: 'Ben' });
    const writer = github.addToken({ kind: 'installation', permissions: JOB_PERMISSIONS });
    const opening = { title: 'Weekly', head: branch, base: 'main' };
    const { body: pull } = await ask(github, writer, `POST /repos/${NAME}/pulls`, opening);
    const inputs = { ...prepare, 'plan-file': 'plans/weekly.md', issue: '', 'trigger-label': '' };
    expect((await again(pull.number, { inputs })).read).toMatchInlineSnapshot(`
      "patchsmith: publish_failed (exit 11) [ERR_COMMITS_OF_OTHERS]: The branch patchsmith/weekly-ID has commits by others (ID by Ben), which are not overwritten. To build on them, comment /patchsmith and what to do on its pull request (--continue); otherwise merge or delete the branch, or choose another one with --branch.

      #1
      **The run was not started**

      The branch patchsmith/weekly-ID has commits by others (ID by Ben), which are not overwritten. To build on them, comment /patchsmith and what to do on its pull request (the input continue); otherwise merge or delete the branch, or choose another one with the input branch.

      No model was asked, since its work could not be published. When that is fixed, run it again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('an input that does not exist', async () => {
    expect((await step({ inputs: { ...prepare, trigerlabel: 'x' } })).read).toMatchInlineSnapshot(`
      "comment on #1 created
      patchsmith: usage_error (exit 2) [ERR_UNKNOWN_INPUT]: trigerlabel: there is no such input; the nearest is trigger-label

      #1 [patchsmith:failed]
      **The run could not begin**

      trigerlabel: there is no such input; the nearest is trigger-label.

      No model was asked. A maintainer must fix the workflow, its secrets or the plan; then it can be run again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('a mode that does not exist', async () => {
    expect((await step({ inputs: { mode: 'prepair' } })).read).toMatchInlineSnapshot(`
      "comment on #1 created
      patchsmith: usage_error (exit 2) [ERR_INVALID_VALUE]: mode: expected one of prepare, run, resume, publish, run-and-publish, got "prepair"

      #1 [patchsmith:failed]
      **The run could not begin**

      mode: expected one of prepare, run, resume, publish, run-and-publish, got "prepair".

      No model was asked. A maintainer must fix the workflow, its secrets or the plan; then it can be run again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('the issue is of another repository', async () => {
    const inputs = { ...prepare, issue: `${github.serverUrl}/octo/other/issues/1` };
    expect((await step({ inputs })).read).toMatchInlineSnapshot(
      `"patchsmith: usage_error (exit 2) [ERR_OTHER_ISSUE]: --issue: octo/other#1 is not an issue of acme/shop, the repository that is published to."`,
    );
  });
});

describe('the job that carries out the plan', () => {
  test('the issue is an outsider’s', async () => {
    expect(await bothJobs({ author: 'mallory' })).toMatchInlineSnapshot(`
      "run ID in DIR/ID
      patchsmith: policy_violation (exit 8) [ERR_AUTHOR_NOT_TRUSTED]: Issue 1 was written by mallory, who may not give tasks here (permission: read; association: NONE). It takes write access, or one of these associations: owner. Write the task in a comment of your own and use --plan-from-comment, or, if somebody with write access reads the text before a run starts, widen this with --trust-author.

      #1 [patchsmith:failed]
      **This request was not accepted**

      Issue 1 was written by mallory, who may not give tasks here (permission: read; association: NONE). It takes write access, or one of these associations: owner. Write the task in a comment of your own and use the input plan-from-comment, or, if somebody with write access reads the text before a run starts, widen this with the input trust-author.

      Nothing was run, and no model was asked. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('there is no key', async () => {
    expect(await bothJobs({ inputs: { 'api-key': '' } })).toMatchInlineSnapshot(`
      "patchsmith: usage_error (exit 2) [ERR_NO_KEY]: there is no key of the Claude API: api-key is empty, and so is ANTHROPIC_API_KEY. Is the secret set, and does this event receive it? Pull requests from forks and from Dependabot do not

      #1 [patchsmith:failed]
      **The run could not begin**

      There is no key of the Claude API: api-key is empty, and so is ANTHROPIC_API_KEY. Is the secret set, and does this event receive it? Pull requests from forks and from Dependabot do not.

      No model was asked. A maintainer must fix the workflow, its secrets or the plan; then it can be run again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('an invalid glob', async () => {
    const inputs = { protect: `!src/${'a'.repeat(300)}` };
    expect(await bothJobs({ inputs })).toMatchInlineSnapshot(`
      "patchsmith: usage_error (exit 2) [ERR_INVALID_VALUE]: --protect: the glob "!src/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… cannot be negated; put the path in the other list, allow or protect

      #1 [patchsmith:failed]
      **The run could not begin**

      The input protect: the glob "!src/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… cannot be negated; put the path in the other list, allow or protect.

      No model was asked. A maintainer must fix the workflow, its secrets or the plan; then it can be run again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('the same input under two names', async () => {
    const inputs = { prompt: 'Do it', plan: 'Do that' };
    expect(await bothJobs({ inputs })).toMatchInlineSnapshot(`
      "patchsmith: usage_error (exit 2) [ERR_SETTINGS_CONFLICT]: prompt: is called plan here, and plan has another value already; give one of them

      #1 [patchsmith:failed]
      **The run could not begin**

      prompt: is called plan here, and plan has another value already; give one of them.

      No model was asked. A maintainer must fix the workflow, its secrets or the plan; then it can be run again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('a missing plan outside the repository, named without the folders of the runner', async () => {
    const inputs = { 'plan-file': '/home/runner/work/shop/plans/p.md' };
    expect(await bothJobs({ inputs })).toMatchInlineSnapshot(`
      "run ID in DIR/ID
      patchsmith: usage_error (exit 2) [ERR_PLAN_UNREADABLE]: The plan /home/runner/work/shop/plans/p.md does not exist.

      #1 [patchsmith:failed]
      **The run could not begin**

      The plan …/p.md does not exist.

      No model was asked. A maintainer must fix the workflow, its secrets or the plan; then it can be run again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });

  test('the token may not read the issue', async () => {
    shop.settings.private = true;
    const permissions = { contents: 'read' } as const;
    const read = await bothJobs({ permissions });
    shop.settings.private = false;
    expect(read).toMatchInlineSnapshot(`
      "run ID in DIR/ID
      patchsmith: usage_error (exit 2) [ERR_GITHUB_UNREADABLE]: The issue cannot be read: Resource not accessible by integration (403). Set a token (GITHUB_TOKEN, or github-token of the action) with issues: read or pull-requests: read.

      #1 [patchsmith:failed]
      **The run could not begin**

      The issue cannot be read: Resource not accessible by integration (403). Set a token (GITHUB_TOKEN, or github-token of the action) with issues: read or pull-requests: read.

      No model was asked. A maintainer must fix the workflow, its secrets or the plan; then it can be run again. [Log and artifacts](GITHUB/acme/shop/actions/runs/7)."
    `);
  });
});

describe('the job that continues', () => {
  test('there is no journal', async () => {
    const inputs = { mode: 'resume', 'run-dir': temporaryFolder(), 'api-key': KEY };
    expect((await step({ inputs })).read).toMatchInlineSnapshot(
      `"patchsmith: usage_error (exit 2) [ERR_RUN_NOT_FOUND]: There is no run in "DIR": neither events.jsonl nor result.json is there. Name its run directory."`,
    );
  });

  test('the folder is not named', async () => {
    expect((await step({ inputs: { mode: 'resume' } })).read).toMatchInlineSnapshot(
      `"patchsmith: usage_error (exit 2) [ERR_INPUT_MISSING]: run-dir: mode resume needs the run directory, such as where its artifact was unpacked"`,
    );
  });
});
