/** Pull requests. */

import { type Answer, type Call, type Handler, page } from '../call.ts';
import { notFound, Refusal, unprocessable, validationFailed } from '../refusal.ts';
import { newIssue } from '../state/new-issue.ts';
import { forkOf } from '../state/revision.ts';
import { type Account, type Issue, mayPush, type Repository, roleOf } from '../state/world.ts';
import { showCommit, showPull, showUser } from '../views.ts';
import { changedFiles } from './repositories.ts';
import { checkText } from './text.ts';

export const pulls: Readonly<Record<string, Handler>> = {
  'pulls/list': list,
  'pulls/get': async (call) => ({
    status: 200,
    body: {
      ...(await showPull(call.world, call.repository(), pullOf(call))),
      mergeable: await mergeable(call.repository(), pullOf(call)),
    },
  }),
  'pulls/create': create,
  'pulls/update': update,
  'pulls/create-reply-for-review-comment': reply,
  'pulls/list-files': listFiles,
  'pulls/list-commits': listCommits,
  'pulls/request-reviewers': requestReviewers,
};

/** GitHub takes a moment after a push; here it is known at once. */
async function mergeable({ store, forkOf }: Repository, { pull }: Issue): Promise<boolean | null> {
  if (pull === null || forkOf !== null) return null;
  return store.holds('merge-tree', '--write-tree', pull.base, pull.head);
}

/** To the first comment of a thread only, as GitHub demands. */
function reply(call: Call): Answer {
  const { pull, number } = pullOf(call);
  const { token, world } = call;
  const asked = Number(call.params.comment_id);
  const thread = pull?.threads.find(({ comments: [first] }) => first?.id === asked);
  if (thread === undefined || token === null) throw notFound();
  checkText('PullRequestReviewComment', undefined, call.body.body);
  const now = world.now();
  const comment = {
    id: world.nextId(),
    body: String(call.body.body),
    author: token.account,
    byApp: token.kind === 'installation',
    association: null,
    createdAt: now,
    updatedAt: now,
  };
  thread.comments.push(comment);
  const { fullName } = call.repository();
  return {
    status: 201,
    body: {
      id: comment.id,
      body: comment.body,
      path: thread.path,
      in_reply_to_id: asked,
      user: showUser(world, token.account),
      html_url: `${world.serverUrl}/${fullName}/pull/${number}#discussion_r${comment.id}`,
      created_at: now,
      updated_at: now,
    },
  };
}

/** Throws 404 when there is none of the number in the path. */
export function pullOf(call: Call): Issue {
  const issue = call.repository().issues.get(Number(call.params.pull_number));
  if (issue?.pull == null) throw notFound();
  return issue;
}

async function list(call: Call): Promise<Answer> {
  const repository = call.repository();
  const state = call.query.get('state') ?? 'open';
  const [base, head] = [call.query.get('base'), call.query.get('head')];
  const found = [...repository.issues.values()].filter((issue) => {
    const { pull } = issue;
    if (pull === null || (state !== 'all' && issue.state !== state)) return false;
    if (base !== null && pull.base !== base) return false;
    // A filter without an owner is ignored, which has surprised many a client.
    if (head === null || !head.includes(':')) return true;
    // An owner stands for one repository of the network: the filter is blind for a second one of the same owner.
    const meant = forkOf(call.world, repository, head.slice(0, head.indexOf(':')));
    const branch = head.slice(head.indexOf(':') + 1);
    return meant?.fullName === pull.headRepository && branch === pull.head;
  });
  found.sort((a, b) => b.number - a.number);
  if (call.query.get('direction') === 'asc') found.reverse();
  const shown = await Promise.all(found.map((issue) => showPull(call.world, repository, issue)));
  return page(call, shown);
}

async function create(call: Call): Promise<Answer> {
  const repository = call.repository();
  const { world, token } = call;
  const { title, head, base, body = null, draft = false, maintainer_can_modify: modify, issue } = call.body;
  if (token === null) throw new Refusal(401, 'Requires authentication');
  if (token.account.login === 'github-actions[bot]' && !repository.settings.actionsMayOpenPulls)
    throw new Refusal(403, 'GitHub Actions is not permitted to create or approve pull requests.');
  if (issue !== undefined || title === undefined)
    throw validationFailed({ resource: 'PullRequest', code: 'missing_field', field: 'title' });
  checkText('PullRequest', title, body);

  const from = headOf(call, String(head));
  if (from === null || (await from.repository.store.head(from.branch)) === null)
    throw validationFailed({ resource: 'PullRequest', field: 'head', code: 'invalid' });
  const baseSha = await repository.store.head(String(base));
  if (baseSha === null) throw validationFailed({ resource: 'PullRequest', field: 'base', code: 'invalid' });
  const pushes = token.kind === 'installation' || mayPush(roleOf(from.repository, token.account));
  if (!pushes) throw validationFailed({ resource: 'PullRequest', field: 'head', code: 'invalid' });
  if (draft === true && !repository.settings.drafts)
    throw unprocessable('Draft pull requests are not supported in this repository.');

  const headSha = (await from.repository.store.head(from.branch)) ?? '';
  if (from.repository !== repository)
    await repository.store.text(['fetch', '--quiet', from.repository.store.folder, headSha]);
  const custom = (message: string): Refusal =>
    validationFailed({ resource: 'PullRequest', code: 'custom', message });
  if (!(await repository.store.holds('merge-base', baseSha, headSha)))
    throw custom(`The ${from.branch} branch has no history in common with ${String(base)}`);
  if (await repository.store.holds('merge-base', '--is-ancestor', headSha, baseSha))
    throw custom(`No commits between ${String(base)} and ${String(head)}`);
  const label = `${from.repository.owner.login}:${from.branch}`;
  if (openPull(repository, from.repository.fullName, from.branch, String(base)))
    throw custom(`A pull request already exists for ${label}.`);

  const made = newIssue(world, repository, {
    title: String(title),
    body: body === null ? null : String(body),
    author: token.account,
    pull: {
      headRepository: from.repository.fullName,
      head: from.branch,
      base: String(base),
      draft: draft === true,
      merged: false,
      maintainerCanModify: modify !== false && from.repository !== repository,
      reviewers: [],
      teams: [],
      threads: [],
      reviews: [],
    },
  });
  const shown = await showPull(world, repository, made);
  return { status: 201, body: shown, headers: { location: String(shown.url) } };
}

function headOf(call: Call, head: string): { repository: Repository; branch: string } | null {
  const { world } = call;
  const colon = head.indexOf(':');
  const branch = head.slice(colon + 1);
  if (typeof call.body.head_repo === 'string') {
    const name = call.body.head_repo;
    const { owner } = call.repository();
    const repository = world.repository(name.includes('/') ? name : `${owner.login}/${name}`);
    return repository === undefined ? null : { repository, branch };
  }
  if (colon < 0) return { repository: call.repository(), branch };
  const repository = forkOf(world, call.repository(), head.slice(0, colon));
  return repository === null ? null : { repository, branch };
}

function openPull(repository: Repository, from: string, head: string, base: string): boolean {
  return [...repository.issues.values()].some(
    ({ pull, state }) =>
      state === 'open' && pull?.headRepository === from && pull.head === head && pull.base === base,
  );
}

async function update(call: Call): Promise<Answer> {
  const repository = call.repository();
  const issue = pullOf(call);
  const { title, body, state, base, maintainer_can_modify: modify } = call.body;
  checkText('PullRequest', title, body ?? null);
  if (base !== undefined && (await repository.store.head(String(base))) === null)
    throw validationFailed({ resource: 'PullRequest', field: 'base', code: 'invalid' });
  const { pull } = issue;
  if (state === 'open' && issue.state === 'closed') await checkReopen(call, issue);
  if (state === 'closed' && issue.state === 'open' && call.token !== null)
    issue.closedBy = call.token.account;
  if (title !== undefined) issue.title = String(title);
  if (body !== undefined) issue.body = body === null ? null : String(body);
  if (state === 'open' || state === 'closed') issue.state = state;
  if (base !== undefined && pull !== null) pull.base = String(base);
  if (modify !== undefined && pull !== null) pull.maintainerCanModify = modify === true;
  issue.updatedAt = call.world.now();
  return { status: 200, body: await showPull(call.world, repository, issue) };
}

/** Not after a merge, and not when its branch is gone or was made anew. */
async function checkReopen(call: Call, { number, pull }: Issue): Promise<void> {
  if (pull === null) return;
  const repository = call.repository();
  const from = call.world.repository(pull.headRepository)?.store;
  const head = (await from?.head(pull.head)) ?? null;
  const known = await repository.store.ref(`refs/pull/${number}/head`);
  const goesOn =
    head !== null && (known === null || (await from?.holds('merge-base', '--is-ancestor', known, head)));
  if (!goesOn || pull.merged || openPull(repository, pull.headRepository, pull.head, pull.base))
    throw validationFailed({
      resource: 'PullRequest',
      code: 'invalid',
      field: 'state',
      message: 'state cannot be changed.',
    });
}

async function listFiles(call: Call): Promise<Answer> {
  const repository = call.repository();
  const issue = pullOf(call);
  await showPull(call.world, repository, issue);
  const { store } = repository;
  const base = await store.text(['merge-base', issue.pull?.base ?? '', `refs/pull/${issue.number}/head`]);
  return page(call, await changedFiles(repository, base, `refs/pull/${issue.number}/head`));
}

async function requestReviewers(call: Call): Promise<Answer> {
  const repository = call.repository();
  const issue = pullOf(call);
  const { pull } = issue;
  const logins = (call.body.reviewers ?? []) as string[];
  const teams = (call.body.team_reviewers ?? []) as string[];
  if (logins.some((login) => login.toLowerCase() === issue.author.login.toLowerCase()))
    throw unprocessable('Review cannot be requested from pull request author.');
  const accounts = logins.map((login) => call.world.account(login));
  const known = accounts.filter(
    (account): account is Account => account !== undefined && roleOf(repository, account) !== null,
  );
  if (known.length < logins.length || teams.some((team) => !repository.teams.has(team))) {
    throw unprocessable(
      'Reviews may only be requested from collaborators. One or more of the users or teams you specified ' +
        `is not a collaborator of the ${repository.fullName} repository.`,
    );
  }
  if (pull !== null) {
    pull.reviewers = [...new Set([...pull.reviewers, ...known])];
    pull.teams = [...new Set([...pull.teams, ...teams])];
  }
  return { status: 201, body: await showPull(call.world, repository, issue) };
}

/** Oldest first, and no more than 250. */
async function listCommits(call: Call): Promise<Answer> {
  const repository = call.repository();
  const issue = pullOf(call);
  await showPull(call.world, repository, issue);
  const { store } = repository;
  const range = [`refs/pull/${issue.number}/head`, `^${issue.pull?.base}`];
  const ids = (await store.text(['rev-list', '--reverse', ...range])).split('\n').filter(Boolean);
  const show = async (id: string) => showCommit(call.world, repository, await store.commit(id));
  return page(call, await Promise.all(ids.slice(0, 250).map(show)));
}
