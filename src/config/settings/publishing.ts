/** How the changes of a run become a pull request. */

import { isBranchName } from '../../domain/github/publishing/identity.ts';
import { PathGlob } from '../../domain/run/plan.ts';
import type { Person } from '../../ports/github.ts';
import { apiAddress } from '../values/addresses.ts';
import { size, usd, wholeNumber } from '../values/amounts.ts';
import { names, texts } from '../values/lists.ts';
import { choice, entry, longText, text, yesOrNo } from '../values/text.ts';
import { shown, value } from '../values/value.ts';
import { setting } from './setting.ts';

/** `Ann Onym <ann@example.org>`. */
function person() {
  return value(A_PERSON, personFrom);
}

/** Several of them, one per line. */
function people() {
  return value(`${A_PERSON}, or a list of them`, (given) => {
    const list = typeof given === 'string' ? given.split('\n').filter((line) => line.trim() !== '') : given;
    if (!Array.isArray(list)) return undefined;
    const found = list.flatMap((one) => personFrom(one) ?? []);
    return found.length === list.length && found.length > 0 ? found : undefined;
  });
}

const A_PERSON = 'a name and an address such as Ann Onym <ann@example.org>';

function personFrom(given: unknown): Person | undefined {
  const match = /^([^<>\x00-\x1f\x7f]{1,200}?) *<([^<>\s@]{1,200}@[^<>\s@]{1,200})>$/.exec(
    String(given).trim(),
  );
  const [, name, email] = match ?? [];
  return name === undefined || email === undefined ? undefined : { name, email };
}

/** A login of GitHub, also as people mention it: `@octocat`. */
function login() {
  return entry().transform((given) => given.replace(/^@(?=.)/, ''));
}

/** A team by its slug, also with its organisation: `octo/core`, `@octo/core`. */
function team() {
  return entry()
    .transform((given) => given.replace(/^@(?=.)/, ''))
    .refine((given) => /^(?:[^/\s]+\/)?[^/\s]+$/.test(given), {
      error: ({ input }) => `expected the slug of a team, also as ORGANISATION/SLUG, got ${shown(input)}`,
    });
}

/** `OWNER/NAME` of a GitHub repository. */
function repositoryName() {
  return value('OWNER/NAME', (given) =>
    typeof given === 'string' && /^[\w-]+\/(?!\.{1,2}$)[\w.-]+$/.test(given.trim())
      ? given.trim()
      : undefined,
  );
}

/** The name of a branch, without `refs/heads/`. */
function branchName() {
  return value('the name of a branch, such as main', (given) => {
    const name = typeof given === 'string' ? given.trim() : '';
    return isBranchName(name) ? name : undefined;
  });
}

const SIGNING = ['auto', 'required'] as const;
const WHETHER = ['auto', 'always', 'never'] as const;
const BRANCH_SUFFIXES = ['none', 'random', 'timestamp', 'short-commit-hash'] as const;
const STALE = ['close', 'comment', 'keep'] as const;
const REOPEN = ['never', 'always'] as const;
const PUBLISH_AS = ['pull-request', 'review', 'check', 'sarif'] as const;
const FALLBACKS = ['none', 'issue'] as const;
const PROTECTED = ['auto', 'refuse', 'draft', 'allow'] as const;

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Publishing. */
export const PUBLISHING_SETTINGS = {
  repository: setting(repositoryName, null, {
    flag: 'repository', value: 'OWNER/NAME', group: 'Publishing', file: 'refused', alsoFor: ['run', 'prepare'], variable: 'GITHUB_REPOSITORY',
    help: 'Repository on GitHub' }),
  base: setting(branchName, null, {
    flag: 'base', value: 'BRANCH', group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'Branch to merge the pull request into',
    defaultHelp: "the run's branch, else the repository's default branch" }),
  branch: setting(branchName, null, {
    flag: 'branch', value: 'BRANCH', group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'Branch of the pull request', defaultHelp: "patchsmith/ and a name made from the plan, the same each time" }),
  branchSuffix: setting(() => choice(BRANCH_SUFFIXES), 'none', {
    flag: 'branch-suffix', value: BRANCH_SUFFIXES.join('|'), group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'Add a suffix to the name of the branch that differs from run to run, so that each run has its own pull request; the same run keeps its branch' }),
  headRepository: setting(repositoryName, null, {
    flag: 'head-repo', value: 'OWNER/NAME', group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'Fork to create the branch in', defaultHelp: 'the repository itself' }),
  sign: setting(() => choice(SIGNING), 'auto', {
    flag: 'sign', value: SIGNING.join('|'), group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: "required: have GitHub make and sign the commit, and refuse one that it does not show as verified; auto: push it with git" }),
  publishAs: setting(() => choice(PUBLISH_AS), 'pull-request', {
    flag: 'publish-as', value: PUBLISH_AS.join('|'), group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'What to make of the run: a pull request of its patch; or, of an answer with --output-schema findings, a review of a pull request, a check run, or findings.sarif in the run directory' }),
  draft: setting(() => choice(WHETHER), 'auto', {
    flag: 'draft', value: WHETHER.join('|'), group: 'Publishing', file: 'refused',
    help: 'Whether the pull request is a draft; auto: when nothing was verified, or not all of it passed' }),
  commitMessage: setting(longText, null, {
    flag: 'commit-message', value: 'TEXT', group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: "The commit's message, in which {title} stands for what it is by default", defaultHelp: 'the first line of the summary' }),
  author: setting(person, null, {
    flag: 'author', value: 'NAME <EMAIL>', group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'Author of the commit; GitHub does not sign such a commit', defaultHelp: 'the account of the token' }),
  committer: setting(person, null, {
    flag: 'committer', value: 'NAME <EMAIL>', group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'Committer of the commit; GitHub does not sign such a commit', defaultHelp: 'the author' }),
  signoff: setting(yesOrNo, false, {
    flag: 'signoff', group: 'Publishing', file: 'refused',
    help: "Add Signed-off-by with the committer to the commit's message" }),
  coAuthors: setting(people, [], {
    flag: 'co-author', value: 'NAME <EMAIL>', repeatable: true, group: 'Publishing', file: 'refused',
    help: "Add Co-authored-by to the commit's message", defaultHelp: 'none' }),
  title: setting(text, null, {
    flag: 'title', value: 'TEXT', group: 'Publishing', file: 'refused',
    help: "Title of the pull request, in which {title} stands for the title of the change; or of the review or check run", defaultHelp: 'the title of the change' }),
  bodyHeader: setting(longText, null, {
    flag: 'body-header', value: 'TEXT', group: 'Publishing', file: 'refused',
    help: 'Markdown above the body of the pull request' }),
  bodyFooter: setting(longText, null, {
    flag: 'body-footer', value: 'TEXT', group: 'Publishing', file: 'refused',
    help: 'Markdown below the body of the pull request' }),
  maintainerCanModify: setting(yesOrNo, true, {
    flag: 'maintainer-can-modify', group: 'Publishing', file: 'refused',
    help: 'Whether maintainers may push to the branch of a pull request from a fork' }),
  titlePrefix: setting(text, null, {
    flag: 'title-prefix', value: 'TEXT', group: 'Publishing', file: 'refused',
    help: 'Prefix of the pull request\'s title' }),
  labels: setting(() => names(entry()), [], {
    flag: 'label', value: 'NAME', repeatable: 'commas', group: 'Publishing', file: 'refused',
    help: 'Label of the pull request', defaultHelp: 'none' }),
  reviewers: setting(() => names(login()), [], {
    flag: 'reviewer', value: 'LOGIN', repeatable: 'commas', group: 'Publishing', file: 'refused',
    help: 'User to request a review from', defaultHelp: 'none' }),
  teamReviewers: setting(() => names(team()), [], {
    flag: 'team-reviewer', value: '[ORG/]SLUG', repeatable: 'commas', group: 'Publishing', file: 'refused',
    help: 'Team to request a review from, with or without its organisation; needs a token that may read the organisation', defaultHelp: 'none' }),
  assignees: setting(() => names(login()), [], {
    flag: 'assignee', value: 'LOGIN', repeatable: 'commas', group: 'Publishing', file: 'refused',
    help: 'User to assign the pull request to', defaultHelp: 'none' }),
  milestone: setting(text, null, {
    flag: 'milestone', value: 'NUMBER|TITLE', group: 'Publishing', file: 'refused',
    help: 'Milestone of the pull request' }),
  maxPatchFiles: setting(() => wholeNumber(1), 100, {
    flag: 'max-patch-files', value: 'N', group: 'Publishing', file: 'refused', alsoFor: ['run'],
    help: 'Maximum number of files a published patch may change' }),
  maxPatchBytes: setting(size, 4 * 1024 ** 2, {
    flag: 'max-patch-size', value: 'SIZE', group: 'Publishing', file: 'refused', alsoFor: ['run'],
    help: 'Maximum size of a published patch' }),
  protectedPaths: setting(() => choice(PROTECTED), 'auto', {
    flag: 'protected', value: PROTECTED.join('|'), group: 'Publishing', file: 'refused', alsoFor: ['run'],
    help: 'How to treat a patch that changes protected files: refuse it, publish a draft, or publish it like any other; auto: refuse changes of CI, .github, code owners, settings of patchsmith and principles, and publish those of package managers, toolchains, git hooks, editors and other agents as a draft' }),
  acceptProtected: setting(() => texts(PathGlob), [], {
    flag: 'accept-protected', value: 'GLOB', repeatable: true, group: 'Publishing', file: 'refused', alsoFor: ['run'],
    help: 'Protected files that may change anyway', defaultHelp: 'none' }),
  exclude: setting(() => texts(PathGlob), [], {
    flag: 'exclude', value: 'GLOB', repeatable: true, group: 'Publishing', file: 'refused',
    help: 'Files that are left out of the published patch, which is proven with them', defaultHelp: 'none' }),
  fallback: setting(() => choice(FALLBACKS), 'none', {
    flag: 'fallback', value: FALLBACKS.join('|'), group: 'Publishing', file: 'refused',
    help: 'issue: where GitHub refuses the branch or the pull request, give the patch in the comment on the issue, or in an issue of its own' }),
  costPerDay: setting(usd, null, {
    flag: 'cost-per-day', value: 'USD', group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'What the runs of the repository may cost in 24 hours, as its pull requests and comments record it; checked before a run by prepare and run --publish', defaultHelp: 'no limit' }),
  costPerPlan: setting(usd, null, {
    flag: 'cost-per-plan', value: 'USD', group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'The same for the runs of one plan or issue and its pull request, in 30 days', defaultHelp: 'no limit' }),
  publishUnfinished: setting(yesOrNo, false, {
    flag: 'publish-unfinished', group: 'Publishing', file: 'refused',
    help: 'Publish the patch of an unfinished run, as a draft' }),
  comment: setting(() => choice(WHETHER), 'auto', {
    flag: 'comment', value: WHETHER.join('|'), group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'Whether to report the outcome in a comment on the issue; auto: if the plan came from one' }),
  reportUrl: setting(apiAddress, null, {
    flag: 'report-url', value: 'URL', group: 'Publishing', file: 'refused',
    help: 'Page of the uploaded report.html, which the pull request links to' }),
  issue: setting(text, null, {
    flag: 'issue', value: 'N|URL', group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'Issue on which to report the outcome, even of a run that ended before it had a plan', defaultHelp: 'the one that the plan came from' }),
  triggerLabel: setting(text, null, {
    flag: 'trigger-label', value: 'NAME', group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'Label of the issue that starts a run: it becomes NAME:running, and at the end NAME:done or NAME:failed', defaultHelp: 'labels of the issue are left alone' }),
  stale: setting(() => choice(STALE), 'comment', {
    flag: 'stale', value: STALE.join('|'), group: 'Publishing', file: 'refused',
    help: 'What to do with the open pull request of a plan when a later run finds nothing to change: close it, say so on it, or leave it alone. One with commits by others is never closed' }),
  deleteBranch: setting(yesOrNo, false, {
    flag: 'delete-branch', group: 'Publishing', file: 'refused',
    help: 'Delete the branch of a pull request that is closed by --stale close' }),
  reopen: setting(() => choice(REOPEN), 'never', {
    flag: 'reopen', value: REOPEN.join('|'), group: 'Publishing', file: 'refused', alsoFor: ['prepare'],
    help: 'Whether a later run of its plan reopens a pull request that people closed without merging it; never: that run is not published' }),
  resolveThreads: setting(yesOrNo, false, {
    flag: 'resolve-threads', group: 'Publishing', file: 'refused',
    help: 'Resolve the review threads that a follow-up answers, if it changes their file' }),
  githubApiUrl: setting(apiAddress, 'https://api.github.com', {
    flag: 'github-api-url', value: 'URL', group: 'Publishing', file: 'refused', alsoFor: ['run', 'prepare'], variable: 'GITHUB_API_URL',
    help: "GitHub's API" }),
  githubServerUrl: setting(apiAddress, 'https://github.com', {
    flag: 'github-server-url', value: 'URL', group: 'Publishing', file: 'refused', alsoFor: ['run', 'prepare'], variable: 'GITHUB_SERVER_URL',
    help: 'Address of GitHub\'s web pages and git repositories' }),
};
