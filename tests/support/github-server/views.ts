/** How the API shows things. Fields that no test looks at are left out here: the description fills them in. */

import type { Commit } from './state/git-store.ts';
import {
  type Account,
  associationOf,
  type Comment,
  type Issue,
  type Label,
  type Milestone,
  mayPush,
  type Repository,
  roleOf,
  type Token,
  type World,
} from './state/world.ts';

type Json = Record<string, unknown>;

export function showUser(world: World, { login, id, type }: Account): Json {
  return {
    login,
    id,
    node_id: nodeId('U', id),
    type,
    url: `${world.apiUrl}/users/${encodeURIComponent(login)}`,
    html_url:
      type === 'Bot'
        ? `${world.serverUrl}/apps/${login.replace('[bot]', '')}`
        : `${world.serverUrl}/${encodeURIComponent(login)}`,
    site_admin: false,
  };
}

export function showRepository(world: World, repository: Repository, token: Token | null): Json {
  const { settings, fullName, id } = repository;
  const role = token === null ? null : roleOf(repository, token.account);
  const byApp = token?.kind === 'installation';
  const pushes = byApp ? token.permissions.contents === 'write' : mayPush(role);
  return {
    id,
    node_id: nodeId('R', id),
    name: fullName.split('/')[1],
    full_name: fullName,
    owner: showUser(world, repository.owner),
    private: settings.private,
    visibility: settings.private ? 'private' : 'public',
    archived: settings.archived,
    disabled: false,
    fork: repository.forkOf !== null,
    default_branch: settings.defaultBranch,
    url: `${world.apiUrl}/repos/${fullName}`,
    html_url: `${world.serverUrl}/${fullName}`,
    clone_url: `${world.serverUrl}/${fullName}.git`,
    permissions: {
      admin: role === 'admin',
      maintain: role === 'admin' || role === 'maintain',
      push: pushes,
      triage: pushes || role === 'triage',
      pull: true,
    },
  };
}

export function showRef(
  world: World,
  repository: Repository,
  name: string,
  sha: string,
  type = 'commit',
): Json {
  const root = `${world.apiUrl}/repos/${repository.fullName}/git`;
  return {
    ref: name,
    node_id: nodeId('REF', name),
    url: `${root}/${name}`,
    object: { sha, type, url: `${root}/${type}s/${sha}` },
  };
}

/** The low-level view of `git/commits`. */
export function showGitCommit(world: World, repository: Repository, commit: Commit): Json {
  const root = `${world.apiUrl}/repos/${repository.fullName}/git`;
  const html = `${world.serverUrl}/${repository.fullName}/commit`;
  return {
    sha: commit.sha,
    node_id: nodeId('C', commit.sha),
    url: `${root}/commits/${commit.sha}`,
    html_url: `${html}/${commit.sha}`,
    author: commit.author,
    committer: commit.committer,
    message: commit.message,
    tree: { sha: commit.tree, url: `${root}/trees/${commit.tree}` },
    parents: commit.parents.map((sha) => ({
      sha,
      url: `${root}/commits/${sha}`,
      html_url: `${html}/${sha}`,
    })),
    verification: {
      verified: commit.verified,
      reason: commit.verified ? 'valid' : commit.signature === null ? 'unsigned' : 'invalid',
      signature: commit.signature,
      payload: commit.signature === null ? null : commit.payload,
      verified_at: commit.verified ? commit.committer.date : null,
    },
  };
}

/** The view of `repos/{owner}/{repo}/commits`, with the accounts that the e-mail addresses belong to. */
export function showCommit(world: World, repository: Repository, commit: Commit): Json {
  const { sha, parents, node_id, html_url, ...inner } = showGitCommit(world, repository, commit);
  const url = `${world.apiUrl}/repos/${repository.fullName}/commits/${commit.sha}`;
  const account = (email: string): Json | null => {
    const login = /^(?:\d+\+)?(.+)@users\.noreply\.github\.com$/.exec(email)?.[1];
    const known = login === undefined ? undefined : world.account(login);
    return known === undefined ? null : showUser(world, known);
  };
  return {
    sha,
    node_id,
    url,
    html_url,
    comments_url: `${url}/comments`,
    parents,
    commit: { ...inner, comment_count: 0 },
    author: account(commit.author.email),
    committer: account(commit.committer.email),
  };
}

export function showLabel(world: World, repository: Repository, { id, name, color }: Label): Json {
  const url = `${world.apiUrl}/repos/${repository.fullName}/labels/${encodeURIComponent(name)}`;
  return { id, node_id: nodeId('LA', id), url, name, color, default: false };
}

export function showMilestone(world: World, repository: Repository, milestone: Milestone): Json {
  const { id, number, title, state } = milestone;
  const url = `${world.apiUrl}/repos/${repository.fullName}/milestones/${number}`;
  return {
    id,
    number,
    title,
    state,
    url,
    html_url: `${world.serverUrl}/${repository.fullName}/milestone/${number}`,
  };
}

export function showComment(world: World, repository: Repository, issue: Issue, comment: Comment): Json {
  const root = `${world.apiUrl}/repos/${repository.fullName}/issues`;
  const kind = issue.pull === null ? 'issues' : 'pull';
  return {
    id: comment.id,
    node_id: nodeId('IC', comment.id),
    url: `${root}/comments/${comment.id}`,
    html_url: `${world.serverUrl}/${repository.fullName}/${kind}/${issue.number}#issuecomment-${comment.id}`,
    issue_url: `${root}/${issue.number}`,
    body: comment.body,
    user: showUser(world, comment.author),
    author_association: comment.association ?? associationOf(repository, comment.author),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    performed_via_github_app: comment.byApp ? showApp(world, comment.author) : null,
  };
}

export function showIssue(world: World, repository: Repository, issue: Issue): Json {
  const url = `${world.apiUrl}/repos/${repository.fullName}/issues/${issue.number}`;
  const page = `${world.serverUrl}/${repository.fullName}/${issue.pull === null ? 'issues' : 'pull'}/${issue.number}`;
  const pullUrl = `${world.apiUrl}/repos/${repository.fullName}/pulls/${issue.number}`;
  return {
    ...shared(world, repository, issue),
    url,
    html_url: page,
    repository_url: `${world.apiUrl}/repos/${repository.fullName}`,
    comments: issue.comments.length,
    closed_by: issue.state === 'closed' && issue.closedBy ? showUser(world, issue.closedBy) : null,
    ...(issue.pull === null
      ? {}
      : {
          draft: issue.pull.draft,
          pull_request: {
            url: pullUrl,
            html_url: page,
            diff_url: `${page}.diff`,
            patch_url: `${page}.patch`,
            merged_at: issue.pull.merged ? issue.updatedAt : null,
          },
        }),
  };
}

/** Throws when the issue is no pull request. */
export async function showPull(world: World, repository: Repository, issue: Issue): Promise<Json> {
  const { pull } = issue;
  if (pull === null) throw new Error(`#${issue.number} is no pull request`);
  const headRepository = world.repository(pull.headRepository);
  const url = `${world.apiUrl}/repos/${repository.fullName}/pulls/${issue.number}`;
  const htmlUrl = `${world.serverUrl}/${repository.fullName}/pull/${issue.number}`;
  return {
    ...shared(world, repository, issue),
    url,
    html_url: htmlUrl,
    diff_url: `${htmlUrl}.diff`,
    patch_url: `${htmlUrl}.patch`,
    issue_url: url.replace('/pulls/', '/issues/'),
    draft: pull.draft,
    merged: pull.merged,
    merged_at: pull.merged ? issue.updatedAt : null,
    maintainer_can_modify: pull.maintainerCanModify,
    requested_reviewers: pull.reviewers.map((one) => showUser(world, one)),
    requested_teams: pull.teams.map((slug) => ({ slug, name: slug, id: 1 })),
    comments: issue.comments.length,
    head: await end(world, headRepository, pull.head, await headOfPull(world, repository, issue)),
    base: await end(world, repository, pull.base, (await repository.store.head(pull.base)) ?? ''),
  };
}

/** The head commit, which stays known in `refs/pull/` when the branch is gone or the request is closed. */
async function headOfPull(world: World, { store }: Repository, issue: Issue): Promise<string> {
  const { pull, number, state } = issue;
  const ref = `refs/pull/${number}/head`;
  const from = pull === null ? undefined : world.repository(pull.headRepository)?.store;
  const head = state === 'open' && pull !== null ? ((await from?.head(pull.head)) ?? null) : null;
  if (head === null || from === undefined) return (await store.ref(ref)) ?? '';
  if (from !== store) await store.text(['fetch', '--quiet', from.folder, head]);
  await store.text(['update-ref', ref, head]);
  return head;
}

function shared(world: World, repository: Repository, issue: Issue): Json {
  return {
    id: issue.id,
    node_id: nodeId(issue.pull === null ? 'I' : 'PR', issue.id),
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    locked: issue.locked,
    user: showUser(world, issue.author),
    labels: issue.labels.map((label) => showLabel(world, repository, label)),
    assignee: issue.assignees[0] === undefined ? null : showUser(world, issue.assignees[0]),
    assignees: issue.assignees.map((one) => showUser(world, one)),
    milestone: issue.milestone === null ? null : showMilestone(world, repository, issue.milestone),
    author_association: issue.association ?? associationOf(repository, issue.author),
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.state === 'closed' ? issue.updatedAt : null,
  };
}

async function end(
  world: World,
  repository: Repository | undefined,
  ref: string,
  sha: string,
): Promise<Json> {
  return {
    label: `${repository?.owner.login ?? 'unknown'}:${ref}`,
    ref,
    sha,
    user: repository === undefined ? null : showUser(world, repository.owner),
    repo: repository === undefined ? null : showRepository(world, repository, null),
  };
}

function showApp(world: World, account: Account): Json {
  const slug = account.login.replace('[bot]', '');
  return { id: account.id, slug, name: slug, owner: showUser(world, account), events: [], permissions: {} };
}

export function nodeId(kind: string, id: number | string): string {
  return `${kind}_${Buffer.from(String(id)).toString('base64url')}`;
}
