/** What GitHub refuses, explained to people: in its own words, with what to do about it. */

import type { GitHubRefusal } from '../../ports/github.ts';

/** The sentence, and how to fix it. `workflows` are files of the patch that are workflows. */
export function explained(refusal: GitHubRefusal, workflows: readonly string[] = []): string {
  return `${refusalSentence(refusal)} ${fixFor(refusal, workflows)}`.trim();
}

/** `GitHub refused to open the pull request (403): Resource not accessible by integration.` */
export function refusalSentence({ route, status, message, requestId }: GitHubRefusal): string {
  const what = WHAT[route] ?? wordsFor(route);
  const id = requestId === null ? '' : `, request ${requestId}`;
  const said = message
    .replace(/ - https?:\/\/\S+$/, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.?$/, '.');
  return status === null || status >= 500
    ? `GitHub could not be asked to ${what} (${status ?? 'no answer'}${id}): ${said}`
    : `GitHub refused to ${what} (${status}${id}): ${said}`;
}

/** `GET /repos/{owner}/{repo}/milestones` shows milestones. */
function wordsFor(route: string): string {
  const [, noun] = /^GET .*\/([a-z-]+)(?:\/\{\w+\})?$/.exec(route) ?? [];
  return noun === undefined ? `answer ${route}` : `show ${noun.replaceAll('-', ' ')}`;
}

/** What people wait for most; of the others, the route says what it is. */
const WHAT: Readonly<Record<string, string>> = {
  'GET /repos/{owner}/{repo}': 'show the repository',
  'git fetch': 'show its commits to git',
  'git push': 'take the branch that git pushed',
  'POST /repos/{owner}/{repo}/git/blobs': 'store a file',
  'POST /repos/{owner}/{repo}/git/commits': 'make the commit',
  'POST /repos/{owner}/{repo}/pulls': 'open the pull request',
  'PATCH /repos/{owner}/{repo}/pulls/{pull_number}': 'update the pull request',
  'POST /repos/{owner}/{repo}/issues/{issue_number}/labels': 'add the labels',
  'POST /repos/{owner}/{repo}/issues/{issue_number}/comments': 'comment on the issue',
  'POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers': 'ask for reviews',
};

/** Files that need a separate permission. */
export function workflowsAmong(files: readonly { path: string }[]): string[] {
  return files.flatMap(({ path }) => (path.startsWith('.github/workflows/') ? [path] : []));
}

/** How to fix it; empty if there is nothing to add to GitHub's own words. */
export function fixFor(refusal: GitHubRefusal, workflows: readonly string[]): string {
  const { status, message, permission, route } = refusal;
  if (/not permitted to create or approve pull requests/i.test(message))
    return 'Turn on "Allow GitHub Actions to create and approve pull requests" in Settings → Actions → General → Workflow permissions, of the repository or the organisation, or use the token of a GitHub App.';
  if (/^the list has more than/.test(message)) return 'No more are read.';
  if (status === null || status >= 500)
    return 'Publish again later: what was created so far is found and continued.';
  if (status === 401) return 'The token is not valid or has expired: check GITHUB_TOKEN.';
  // All of these may be a 403 that names a permission the token already has.
  const known = KNOWN_REASONS.flatMap(([reason, fix]) => (reason.test(message) ? [fix] : []));
  if (known.length > 0) return known.join(' ');
  if (/rule violations found/i.test(message))
    return 'Choose another name with --branch, or let the token bypass the rules.';
  const forWorkflows = /workflow/i.test(`${permission} ${message}`) || route === 'git push';
  if (workflows.length > 0 && forWorkflows && (status === 403 || status === 404 || status === 422))
    return `The patch changes ${workflows.join(', ')}, which needs the permission workflows: write. GITHUB_TOKEN can never have it: use the token of a GitHub App or a fine-grained token with Workflows: write, or take these files out of the plan.`;
  if (/draft/i.test(message) && status === 422)
    return 'If the repository does not support drafts, use --draft never; unfinished and protected work is only published as a draft.';
  if (status === 404 && route === 'GET /repos/{owner}/{repo}')
    return 'Check --repository, and that the token may see it.';
  if (status === 403 || status === 404) return missingPermission(permission, route);
  return '';
}

/** Refusals that are not about a missing permission, by GitHub's words for them. */
const KNOWN_REASONS: readonly (readonly [RegExp, string])[] = [
  [/rate limit/i, 'Publish again when the limit has passed: what was created so far is found and continued.'],
  [/was archived/i, 'Nothing can be published in an archived repository.'],
  [/is locked/i, 'Unlock the issue, or publish without a comment (--comment never).'],
  [/SAML|single sign-on/i, 'Authorize the token for the organisation in the settings of its account.'],
  [
    /IP allow list/i,
    "Publish from an address on the organisation's allow list, for example from a self-hosted runner.",
  ],
  [
    /verified signature/i,
    'Use the token of a GitHub App or GITHUB_TOKEN, whose commits GitHub signs, with --sign required.',
  ],
  [/must not contain merge commits/i, 'The base has moved, and is merged in: delete the branch.'],
  [/\bcommit message must\b/i, 'Set the commit message with --commit-message.'],
  [/\bauthor email\b/i, 'Set the author with --author.'],
  [/\bcommitter email\b/i, 'Set the committer with --committer.'],
  [
    /unknown Git LFS object/,
    'A run only writes the pointers of such files, so no one could check out the branch. In a checkout with the changed files run git add FILE and git lfs push --object-id origin with the ids; then publish again.',
  ],
  [
    /^Reference update failed|exists; cannot create/i,
    'Usually a branch whose name is a prefix of this one, such as patchsmith, is in the way: rename it, or choose another name with --branch.',
  ],
];

/** Git names no permission. */
const PERMISSION_OF: Readonly<Record<string, string>> = {
  'git fetch': 'contents=read',
  'git push': 'contents=write',
};

/** GitHub names alternatives, each a list: `contents=write; contents=write,workflows=write`. */
function missingPermission(permission: string | null, route: string): string {
  const [first = ''] = (permission ?? PERMISSION_OF[route] ?? '').split(';');
  const needed = first
    .split(',')
    .map((one) => one.trim().replace('_', '-').replace('=', ': '))
    .filter((one) => one !== '');
  if (needed.length === 0) return '';
  const them = needed.length === 1 ? 'it' : 'them';
  return `The token lacks ${needed.join(', ')}: add ${them} to the permissions of the job, or use a token that has ${them}.`;
}
