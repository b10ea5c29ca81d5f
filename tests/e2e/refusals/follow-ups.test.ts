/** Each refusal to go on with a pull request as the maintainer reads it there: the log of the run, and the comment. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { removeFolders } from '../../support/files/repository.ts';
import { asRead } from '../../support/jobs/as-read.ts';
import { NAME } from '../../support/jobs/publishing.ts';
import {
  expectDone,
  type Life,
  type LifeEvent,
  openLife,
  writes,
} from '../../support/jobs/pull-request-life.ts';
import type { FinishedRun } from '../../support/runs/scripted-run.ts';

let life: Life;
let branch: string;
let heads: Record<string, string | null>;
const PUSH: LifeEvent = { name: 'push', payload: { ref: 'refs/heads/main' } };

/** Pull request #1 has changed a.txt. */
beforeAll(async () => {
  life = await openLife({ 'a.txt': 'a\n' }, { forgets: true });
  const first = await life.run(writes('a.txt', 'new\n', 'Renewed a.'), ['--message', 'Make a new']);
  expectDone(first);
  expectDone(await life.publish(first));
  branch = life.pull(1).pull?.head ?? '';
  heads = { main: await life.hosted.head('main'), [branch]: await life.hosted.head(branch) };
});

/** Each test finds it as it was published, and checked out. */
beforeEach(async () => {
  for (const [name, head] of Object.entries(heads))
    await life.hosted.git('update-ref', `refs/heads/${name}`, head ?? '');
  life.pull(1).comments.splice(0);
  await life.toHead(1);
});
afterAll(async () => {
  expect(life.github.invalid).toEqual([]);
  await life.github.close();
  removeFolders();
});

/** The last line of the run, and what its publication says and leaves on the pull request. */
async function read(run: FinishedRun, args: readonly string[] = ['--issue', '1']): Promise<string> {
  expect(run.server.requests).toEqual([]);
  return published(run, args);
}

async function published(run: FinishedRun, args: readonly string[] = ['--issue', '1']): Promise<string> {
  const { stderr } = await life.publish(run, args);
  return asRead({ stderr: `${run.lastLine}\n${stderr}`, issue: life.pull(1) });
}

const goOn = (args: readonly string[], event?: LifeEvent) =>
  life.run([], ['--continue', '1', ...args], event);

test('nothing asks for more work', async () => {
  expect(await read(await goOn([]))).toMatchInlineSnapshot(`
    "patchsmith: no_change (exit 0): Nothing requests more work on pull request #1.
    comment on #1 created
    patchsmith: no_change (exit 0): Nothing requests more work on pull request #1.

    #1
    **The pull request was not continued**

    Nothing requests more work on pull request #&#8203;1.

    No model was asked."
  `);
});

test('the request is an outsider’s', async () => {
  const { id } = life.github.addComment(NAME, 1, { body: '/patchsmith print all', author: 'eve' });
  expect(
    (await read(await goOn(['--plan-from-comment', String(id)]))).replaceAll(String(id), 'N'),
  ).toMatchInlineSnapshot(`
    "patchsmith: policy_violation (exit 8) [ERR_AUTHOR_NOT_TRUSTED]: Comment N was written by eve, who may not give tasks here (permission: read; association: NONE). It takes write access, or one of these associations: owner. Write the task in a comment of your own and use --plan-from-comment, or, if somebody with write access reads the text before a run starts, widen this with --trust-author.
    comment on #1 created
    patchsmith: policy_violation (exit 8) [ERR_AUTHOR_NOT_TRUSTED]: The run ended before it had a plan: Comment N was written by eve, who may not give tasks here (permission: read; association: NONE). It takes write access, or one of these associations: owner. Write the task in a comment of your own and use --plan-from-comment, or, if somebody with write access reads the text before a run starts, widen this with --trust-author.

    #1
    **This request was not accepted**

    Comment N was written by eve, who may not give tasks here (permission: read; association: NONE). It takes write access, or one of these associations: owner. Write the task in a comment of your own and use --plan-from-comment, or, if somebody with write access reads the text before a run starts, widen this with --trust-author.

    Nothing was run, and no model was asked."
  `);
});

test('the head is not checked out', async () => {
  await life.checkout.git('checkout', '--quiet', '--force', 'main');
  expect(await read(await goOn(['--message', 'x']))).toMatchInlineSnapshot(`
    "patchsmith: usage_error (exit 2) [ERR_OTHER_HEAD_CHECKED_OUT]: Pull request #1 is at ID, and ID is checked out. Check out its head with the whole history: ref: refs/pull/1/head and fetch-depth: 0 for actions/checkout, or git fetch origin pull/1/head && git checkout FETCH_HEAD.
    comment on #1 created
    patchsmith: usage_error (exit 2) [ERR_OTHER_HEAD_CHECKED_OUT]: The run ended before it had a plan: Pull request #1 is at ID, and ID is checked out. Check out its head with the whole history: ref: refs/pull/1/head and fetch-depth: 0 for actions/checkout, or git fetch origin pull/1/head && git checkout FETCH_HEAD.

    #1
    **The run could not begin**

    Pull request #&#8203;1 is at ID, and ID is checked out. Check out its head with the whole history: ref: refs/pull/1/head and fetch-depth: 0 for actions/checkout, or git fetch origin pull/1/head && git checkout FETCH_HEAD.

    No model was asked. A maintainer must fix the workflow, its secrets or the plan; then it can be run again."
  `);
});

test('a pull request that does not exist, is closed, or was opened by others', async () => {
  const gone = await life.run([], ['--continue', '9', '--message', 'x']);
  const pull = life.pull(1);
  pull.state = 'closed';
  const closed = await goOn(['--message', 'x']);
  pull.state = 'open';
  const { body } = pull;
  pull.body = 'mine';
  const foreign = await goOn(['--message', 'x']);
  pull.body = body;
  expect(
    [gone, closed, foreign].map(({ lastLine }) => asRead({ stderr: lastLine })).join('\n'),
  ).toMatchInlineSnapshot(`
    "patchsmith: policy_violation (exit 8) [ERR_NOT_OUR_PULL_REQUEST]: Pull request #9 is not continued: there is no such pull request.
    patchsmith: policy_violation (exit 8) [ERR_NOT_OUR_PULL_REQUEST]: Pull request #1 is not continued: it is closed.
    patchsmith: policy_violation (exit 8) [ERR_NOT_OUR_PULL_REQUEST]: Pull request #1 is not continued: its text has no record of patchsmith, so it is not one of its pull requests. In a checkout of it, patchsmith run --read-only answers questions and changes nothing; patchsmith run --publish opens a pull request into its branch."
  `);
  expect(await read(foreign)).toMatchInlineSnapshot(`
    "patchsmith: policy_violation (exit 8) [ERR_NOT_OUR_PULL_REQUEST]: Pull request #1 is not continued: its text has no record of patchsmith, so it is not one of its pull requests. In a checkout of it, patchsmith run --read-only answers questions and changes nothing; patchsmith run --publish opens a pull request into its branch.
    comment on #1 created
    patchsmith: policy_violation (exit 8) [ERR_NOT_OUR_PULL_REQUEST]: The run ended before it had a plan: Pull request #1 is not continued: its text has no record of patchsmith, so it is not one of its pull requests. In a checkout of it, patchsmith run --read-only answers questions and changes nothing; patchsmith run --publish opens a pull request into its branch.

    #1
    **This request was not accepted**

    Pull request #&#8203;1 is not continued: its text has no record of patchsmith, so it is not one of its pull requests. In a checkout of it, patchsmith run --read-only answers questions and changes nothing; patchsmith run --publish opens a pull request into its branch.

    Nothing was run, and no model was asked."
  `);
});

test('people have committed to the branch, and no one asked to build on that', async () => {
  await life.hosted.commit(branch, { 'c.txt': 'c\n' }, { author: 'Ben' });
  await life.hosted.commit('main', { 'a.txt': 'theirs\n' });
  await life.toHead(1);
  expect(await read(await goOn([], PUSH), [])).toMatchInlineSnapshot(`
    "patchsmith: publish_failed (exit 11) [ERR_COMMITS_OF_OTHERS]: Pull request #1 has commits by others (ID by Ben), so it is continued only when someone asks for it. Comment there with /patchsmith and what to do: the work then builds on these commits.
    comment on #1 updated
    patchsmith: publish_failed (exit 11) [ERR_COMMITS_OF_OTHERS]: The run ended as publish_failed, and has no patch: Pull request #1 has commits by others (ID by Ben), so it is continued only when someone asks for it. Comment there with /patchsmith and what to do: the work then builds on these commits.

    #1
    **The run was not started**

    Pull request #&#8203;1 has commits by others (ID by Ben), so it is continued only when someone asks for it. Comment there with /patchsmith and what to do: the work then builds on these commits.

    No model was asked, since its work could not be published. When that is fixed, run it again."
  `);
});

test('it was continued too often without a person', async () => {
  await life.hosted.commit('main', { 'a.txt': 'theirs\n' });
  await life.toHead(1);
  expect(await read(await goOn(['--follow-up-rounds', '0'], PUSH), [])).toMatchInlineSnapshot(`
    "patchsmith: publish_failed (exit 11) [ERR_ROUND_NOT_RECORDED]: Pull request #1 is not continued: no round was recorded for its head ID in this workflow run. A job with mode: prepare and the same continue has to go before it, as in the workflow of patchsmith init; re-run all jobs, not only this one.
    comment on #1 updated
    patchsmith: publish_failed (exit 11) [ERR_ROUND_NOT_RECORDED]: The run ended as publish_failed, and has no patch: Pull request #1 is not continued: no round was recorded for its head ID in this workflow run. A job with mode: prepare and the same continue has to go before it, as in the workflow of patchsmith init; re-run all jobs, not only this one.

    #1
    **The run was not started**

    Pull request #&#8203;1 is not continued: no round was recorded for its head ID in this workflow run. A job with mode: prepare and the same continue has to go before it, as in the workflow of patchsmith init; re-run all jobs, not only this one.

    No model was asked, since its work could not be published. When that is fixed, run it again."
  `);
});

test('the conflict is in a file that may not change', async () => {
  await life.hosted.commit('main', { 'a.txt': 'theirs\n' });
  await life.toHead(1);
  expect(await read(await goOn(['--protect', 'a.txt'], PUSH), [])).toMatchInlineSnapshot(`
    "patchsmith: publish_failed (exit 11) [ERR_MERGE_NOT_MADE]: Pull request #1 is not continued: it conflicts with main (ID) in files that the plan and the settings do not allow to be changed: a.txt. Merge main into the branch yourself, and push it.
    comment on #1 updated
    patchsmith: publish_failed (exit 11) [ERR_MERGE_NOT_MADE]: The run ended as publish_failed, and has no patch: Pull request #1 is not continued: it conflicts with main (ID) in files that the plan and the settings do not allow to be changed: a.txt. Merge main into the branch yourself, and push it.

    #1
    **The run was not started**

    Pull request #&#8203;1 is not continued: it conflicts with main (ID) in files that the plan and the settings do not allow to be changed: a.txt. Merge main into the branch yourself, and push it.

    No model was asked, since its work could not be published. When that is fixed, run it again."
  `);
});

test('the conflict is not in text', async () => {
  await life.hosted.commit('main', { 'a.txt': 'a\0binary' });
  await life.toHead(1);
  expect(await read(await goOn([], PUSH), [])).toMatchInlineSnapshot(`
    "patchsmith: publish_failed (exit 11) [ERR_MERGE_NOT_MADE]: Pull request #1 is not continued: it conflicts with main (ID) in files that cannot be merged as text (binary, moved, too large, or of an odd name): a.txt. Merge main into the branch yourself, and push it.
    comment on #1 updated
    patchsmith: publish_failed (exit 11) [ERR_MERGE_NOT_MADE]: The run ended as publish_failed, and has no patch: Pull request #1 is not continued: it conflicts with main (ID) in files that cannot be merged as text (binary, moved, too large, or of an odd name): a.txt. Merge main into the branch yourself, and push it.

    #1
    **The run was not started**

    Pull request #&#8203;1 is not continued: it conflicts with main (ID) in files that cannot be merged as text (binary, moved, too large, or of an odd name): a.txt. Merge main into the branch yourself, and push it.

    No model was asked, since its work could not be published. When that is fixed, run it again."
  `);
});

test('the branch was replaced, and the pull request closed, while the run worked', async () => {
  const more = await life.run(writes('b.txt', 'b\n', 'Added b.'), ['--continue', '1', '--message', 'add b']);
  const head = await life.hosted.head(branch);
  const message = await life.hosted.git('log', '-1', '--format=%B', head ?? '');
  const other = ['-c', 'user.name=A', '-c', 'user.email=a@b', 'commit-tree', `${head}^{tree}`];
  const commit = await life.hosted.git(...other, '-p', `${head}^`, '-m', message);
  await life.hosted.git('update-ref', `refs/heads/${branch}`, commit);
  expect(await published(more)).toMatchInlineSnapshot(`
    "patchsmith: done (exit 0): 1 file changed, 1 verify command passed.
    comment on #1 created
    patchsmith: publish_failed (exit 11) [ERR_PULL_REQUEST_MOVED]: The branch patchsmith/make-a-new-ID was replaced during the run: ID, which it continued from, is no longer part of it. The patch is kept in DIR/changes.patch.

    #1
    **The change could not be published**

    The branch patchsmith/make-a-new-ID was replaced during the run: ID, which it continued from, is no longer part of it.

    The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.

    In the model's own words:

    > Added b."
  `);
  life.pull(1).state = 'closed';
  const after = await published(more);
  life.pull(1).state = 'open';
  expect(after).toMatchInlineSnapshot(`
    "patchsmith: done (exit 0): 1 file changed, 1 verify command passed.
    comment on #1 updated
    patchsmith: publish_failed (exit 11) [ERR_PULL_REQUEST_MOVED]: Nothing was added to pull request #1: it is closed. The patch is kept in DIR/changes.patch.

    #1
    **The change could not be published**

    Nothing was added to pull request #&#8203;1: it is closed.

    The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.

    In the model's own words:

    > Added b."
  `);
});

test('a conflict that the run left unresolved', async () => {
  await life.hosted.commit('main', { 'a.txt': 'theirs\n' });
  await life.toHead(1);
  const lazy = [
    ...writes('b.txt', 'b\n', 'Done.'),
    ...[1, 2, 3].flatMap(() => writes('b.txt', 'c\n', 'Done.')),
  ];
  const red = await life.run(lazy, ['--continue', '1', '--fix-rounds', '0'], PUSH);
  expect(await published(red)).toMatchInlineSnapshot(`
    "patchsmith: verify_failed (exit 9) [ERR_VERIFY_FAILED]: Failed: for file in 'a.txt'; do ! grep -nHE '^(<{7} pull-request|>{7} base)' -- "$file" || exit 1; done; the patch so far has 1 file.
    comment on #1 updated
    patchsmith: publish_failed (exit 11) [ERR_MERGE_NOT_MADE]: The conflict with main (ID) is not resolved in a.txt. The patch is kept in DIR/changes.patch.

    #1
    **The change could not be published**

    The conflict with main (ID) is not resolved in a.txt.

    The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.

    In the model's own words:

    > Done."
  `);
});
