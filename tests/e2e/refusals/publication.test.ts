/** Each refusal of a publication as the maintainer reads it: the whole of the log, the comment and the label. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/files/repository.ts';
import { runAction } from '../../support/jobs/action-runner.ts';
import { asRead } from '../../support/jobs/as-read.ts';
import {
  closeGitHubs,
  JOB_PERMISSIONS,
  type MadeRun,
  madeRun,
  NAME,
  type OnGitHub,
  onGitHub,
} from '../../support/jobs/publishing.ts';
import { call } from '../../support/runs/scripted-run.ts';

const FILES = {
  'a.txt': 'a\n',
  '.github/workflows/ci.yml': 'on: push\n',
  '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
};
const writes = (path: string, content: string) => [
  { calls: [call('write_file', { path, content })] },
  { text: 'Done.' },
];

let made: MadeRun;
beforeAll(async () => {
  made = await madeRun(FILES, writes('a.txt', 'b\n'));
});
afterAll(closeGitHubs);
interface Asked {
  readonly inputs?: Readonly<Record<string, string>>;
  readonly token?: string;
}

/** The template's last step for issue #1, and what is read of it. */
async function publish(
  there: OnGitHub,
  { inputs = {}, token = there.token }: Asked = {},
  readOn = 1,
): Promise<string> {
  const { github, repository, artifact } = there;
  const { stderr } = await runAction({
    workspace: temporaryFolder(),
    inputs: {
      mode: 'publish',
      'run-dir': artifact,
      'github-token': token,
      issue: '1',
      'trigger-label': 'patchsmith',
      ...inputs,
    },
    env: { GITHUB_REPOSITORY: NAME, GITHUB_API_URL: github.url, GITHUB_SERVER_URL: github.serverUrl },
  });
  expect(github.invalid).toEqual([]);
  return asRead({ stderr, issue: repository.issues.get(readOn) });
}

const forIssue = (run: MadeRun, given = {}) => onGitHub(run, { issue: true, ...given });

/** Changes the result in the artifact. */
function tamper({ artifact }: OnGitHub, change: (result: Record<string, unknown>) => object): void {
  const path = join(artifact, 'result.json');
  const result = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...result, ...change(result) }));
}

test('a permission is missing', async () => {
  const there = await forIssue(made);
  const permissions = { ...JOB_PERMISSIONS, pull_requests: 'read' } as const;
  const token = there.github.addToken({ kind: 'installation', permissions });
  expect(await publish(there, { token })).toMatchInlineSnapshot(`
    "patchsmith/issue-1-ID created: ID
    comment on #1 created
    patchsmith: publish_failed (exit 11) [ERR_GITHUB_REFUSED]: GitHub refused to open the pull request (403, request ID): Resource not accessible by integration. The token lacks pull-requests: write: add it to the permissions of the job, or use a token that has it. The patch is kept in DIR/changes.patch.

    #1 [patchsmith:failed]
    **The change could not be published**

    GitHub refused to open the pull request (403, request ID): Resource not accessible by integration. The token lacks pull-requests: write: add it to the permissions of the job, or use a token that has it.

    The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.

    In the model's own words:

    > Done."
  `);
});

test('a workflow in the patch', async () => {
  const run = await madeRun(FILES, [
    { calls: [call('run_command', { command: 'echo "jobs: {}" >> .github/workflows/ci.yml' })] },
    { text: 'Done.' },
  ]);
  const there = await forIssue(run);
  expect(await publish(there)).toMatchInlineSnapshot(`
    "comment on #1 created
    patchsmith: policy_violation (exit 8) [ERR_PROTECTED_PATH]: The patch changes protected files: .github/workflows/ci.yml. Accept them with --accept-protected GLOB, or publish a draft with --protected draft.

    #1 [patchsmith:failed]
    **The change is not allowed**

    The patch changes protected files: .github/workflows/ci.yml. Accept them with accept-protected: GLOB, or publish a draft with protected: draft.

    Ask for a change without that, or let a maintainer allow it in the workflow; then run it again.

    In the model's own words:

    > Done."
  `);
  expect(await publish(there, { inputs: { protected: 'allow' } })).toMatchInlineSnapshot(`
    "second look: .github/workflows/ci.yml: runs in CI with its permissions
    comment on #1 updated
    patchsmith: publish_failed (exit 11) [ERR_GITHUB_REFUSED]: GitHub refused to take the branch that git pushed (403): refusing to allow a GitHub App to create or update workflow \`.github/workflows/ci.yml\` without \`workflows\` permission. The patch changes .github/workflows/ci.yml, which needs the permission workflows: write. GITHUB_TOKEN can never have it: use the token of a GitHub App or a fine-grained token with Workflows: write, or take these files out of the plan. The patch is kept in DIR/changes.patch.

    #1 [patchsmith:failed]
    **The change could not be published**

    GitHub refused to take the branch that git pushed (403): refusing to allow a GitHub App to create or update workflow \\\`.github/workflows/ci.yml\\\` without \\\`workflows\\\` permission. The patch changes .github/workflows/ci.yml, which needs the permission workflows: write. GITHUB_TOKEN can never have it: use the token of a GitHub App or a fine-grained token with Workflows: write, or take these files out of the plan.

    The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.

    In the model's own words:

    > Done."
  `);
});

test('more files than publish accepts', async () => {
  expect(await publish(await forIssue(made), { inputs: { 'max-patch-size': '10' } })).toMatchInlineSnapshot(`
    "comment on #1 created
    patchsmith: policy_violation (exit 8) [ERR_PATCH_TOO_LARGE]: The patch is too large to be published: it has 165 bytes, at most 10 are allowed (--max-patch-size).

    #1 [patchsmith:failed]
    **The change is not allowed**

    The patch is too large to be published: it has 165 bytes, at most 10 are allowed (the input max-patch-size).

    Ask for a change without that, or let a maintainer allow it in the workflow; then run it again.

    In the model's own words:

    > Done."
  `);
});

test('a path that only the publishing job protects', async () => {
  expect(await publish(await forIssue(made), { inputs: { protect: '*.txt' } })).toMatchInlineSnapshot(`
    "comment on #1 created
    patchsmith: policy_violation (exit 8) [ERR_FORBIDDEN_PATH]: The plan and the settings do not allow changes to: a.txt. See allow and protect in the settings and in the plan.

    #1 [patchsmith:failed]
    **The change is not allowed**

    The plan and the settings do not allow changes to: a.txt. See allow and protect in the settings and in the plan.

    Ask for a change without that, or let a maintainer allow it in the workflow; then run it again.

    In the model's own words:

    > Done."
  `);
});

test('the base has changed the same lines', async () => {
  const there = await forIssue(made);
  await there.repository.commit('main', { 'a.txt': 'other\n' });
  expect(await publish(there)).toMatchInlineSnapshot(`
    "comment on #1 created
    patchsmith: publish_failed (exit 11) [ERR_PATCH_CONFLICT]: The patch does not fit onto main (ID): a.txt (both sides changed it). Run the plan again on the current base. The patch is kept in DIR/changes.patch.

    #1 [patchsmith:failed]
    **The change could not be published**

    The patch does not fit onto main (ID).

    - \`a.txt\`: both sides changed it

    The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.

    In the model's own words:

    > Done."
  `);
});

test('the branch has the work of another request', async () => {
  const there = await forIssue(made);
  await publish(there);
  const run = await madeRun(FILES, writes('a.txt', 'c\n'));
  const other = await forIssue(run);
  await there.repository.git('fetch', '-q', run.repository.root, 'HEAD:refs/heads/other');
  const second = { ...there, artifact: other.artifact };
  tamper(second, ({ plan }) => {
    const { source } = plan as { source: object };
    const url = `${there.github.serverUrl}/${NAME}/issues/1#issuecomment-9`;
    return { plan: { ...(plan as object), source: { ...source, kind: 'comment', commentId: 9, url } } };
  });
  expect(await publish(second)).toMatchInlineSnapshot(`
    "comment on #1 updated
    patchsmith: publish_failed (exit 11) [ERR_BRANCH_OF_OTHER_WORK]: The branch patchsmith/issue-1-ID has the work of another request (issue 1, run ID), which this run did not build on: it would be replaced. Run it again with --continue and the number of its pull request (in a workflow, continue: auto) to build on it; or merge it first, or delete the branch to keep only this work. The patch is kept in DIR/changes.patch.

    #1 [patchsmith:failed]
    **The change could not be published**

    The branch patchsmith/issue-1-ID has the work of another request (issue 1, run ID), which this run did not build on: it would be replaced. Run it again with the input continue and the number of its pull request (in a workflow, continue: auto) to build on it; or merge it first, or delete the branch to keep only this work.

    The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.

    In the model's own words:

    > Done."
  `);
});

test('people closed the pull request', async () => {
  const there = await forIssue(made);
  await publish(there);
  const [pull] = there.repository.pulls();
  if (pull) pull.state = 'closed';
  expect(await publish(there)).toMatchInlineSnapshot(`
    "comment on #1 updated
    patchsmith: publish_failed (exit 11) [ERR_PULL_REQUEST_CLOSED]: The pull request of this plan was closed without being merged, and stays closed (--reopen never): GITHUB/acme/shop/pull/2. Reopen it and publish again, or publish with --reopen always. The patch is kept in DIR/changes.patch.

    #1 [patchsmith:failed]
    **The change could not be published**

    The pull request of this plan was closed without being merged, and stays closed (reopen: never): #2. Reopen it and publish again, or publish with reopen: always.

    The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.

    In the model's own words:

    > Done."
  `);
});

test('a team of another organisation', async () => {
  expect(
    await publish(await forIssue(made), { inputs: { 'team-reviewers': 'other/core' } }),
  ).toMatchInlineSnapshot(`
    "comment on #1 created
    patchsmith: usage_error (exit 2) [ERR_FOREIGN_TEAM]: --team-reviewer: the team "other/core" is not one of acme, which owns the repository

    #1 [patchsmith:failed]
    **The change could not be published**

    team-reviewer: the team "other/core" is not one of acme, which owns the repository.

    The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.

    In the model's own words:

    > Done."
  `);
});

test('an input of another mode, and one with an invalid value', async () => {
  const inputs = { 'plan-file': 'p.md', draft: 'maybe' };
  expect(await publish(await forIssue(made), { inputs })).toMatchInlineSnapshot(`
    "comment on #1 created
    patchsmith: usage_error (exit 2) [ERR_INPUT_NOT_TAKEN]: plan-file: is not an input of mode publish, only of prepare, run

    #1 [patchsmith:failed]
    **The change could not be published**

    plan-file: is not an input of mode publish, only of prepare, run.

    The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.

    In the model's own words:

    > Done."
  `);
});

test('a mode that does not exist: the comment goes where the run came from', async () => {
  const inputs = { mode: 'publsh', issue: '', 'trigger-label': '' };
  expect(await publish(await forIssue(made), { inputs })).toMatchInlineSnapshot(`
    "comment on #1 created
    patchsmith: usage_error (exit 2) [ERR_INVALID_VALUE]: mode: expected one of prepare, run, resume, publish, run-and-publish, got "publsh"

    #1
    **The change could not be published**

    mode: expected one of prepare, run, resume, publish, run-and-publish, got "publsh".

    The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.

    In the model's own words:

    > Done."
  `);
});

test('the run names another issue than the workflow', async () => {
  const there = await forIssue(made);
  there.github.addIssue(NAME, { title: 'Another' });
  expect(await publish(there, { inputs: { issue: '2' } }, 2)).toMatchInlineSnapshot(`
    "comment on #2 created
    patchsmith: usage_error (exit 2) [ERR_OTHER_ISSUE]: The run says that its task came from GITHUB/acme/shop/issues/1, and --issue that it is #2. Publish it without --issue, or check which run this is.

    #2 [patchsmith:failed]
    **The change could not be published**

    The run says that its task came from GITHUB/acme/shop/issues/1, and the input issue that it is #&#8203;2. Publish it without the input issue, or check which run this is.

    The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.

    In the model's own words:

    > Done."
  `);
});

test('a run that ended before it was done', async () => {
  const there = await forIssue(made);
  tamper(there, () => ({
    outcome: 'limit_reached',
    exitCode: 7,
    errorCode: 'ERR_MAX_ITERATIONS',
    reason: 'The turns are used up (--max-iterations 25).',
  }));
  expect(await publish(there)).toMatchInlineSnapshot(`
    "comment on #1 created
    patchsmith: limit_reached (exit 7) [ERR_MAX_ITERATIONS]: The run ended as limit_reached, so its patch is unfinished work: The turns are used up (--max-iterations 25). Publish it as a draft with --publish-unfinished.

    #1 [patchsmith:failed]
    **A limit ended the run before the work was done**

    The turns are used up (max-iterations: 25).

    Raise the limit or ask for less at once. The unfinished patch is among the artifacts; \`publish-unfinished: true\` makes a draft of it.

    In the model's own words:

    > Done."
  `);
});

test('the patch is not the one that the run made', async () => {
  const there = await forIssue(made);
  writeFileSync(join(there.artifact, 'changes.patch'), 'evil\n');
  expect(await publish(there)).toMatchInlineSnapshot(`
    "comment on #1 created
    patchsmith: usage_error (exit 2) [ERR_RUN_UNTRUSTED]: DIR/changes.patch is not the patch that the run wrote: its hash differs from the one in the result.

    #1 [patchsmith:failed]
    **What the run left cannot be trusted**

    changes.patch is not the patch that the run wrote: its hash differs from the one in the result.

    Nothing was published. Have a maintainer look at where the artifact comes from, and run it again."
  `);
});

test('the job of the run left nothing', async () => {
  const there = await forIssue(made);
  expect(
    await publish(there, { inputs: { 'run-dir': join(there.artifact, 'gone') } }),
  ).toMatchInlineSnapshot(`
    "comment on #1 created
    patchsmith: usage_error (exit 2) [ERR_RUN_UNTRUSTED]: There is no run in "DIR/gone": neither events.jsonl nor result.json is there. Name its run directory.

    #1 [patchsmith:failed]
    **The run left no result**

    The job that should have carried out the plan left no readable result: it failed before starting, or was cut off.

    The log says why; when that is fixed, run it again."
  `);
});
