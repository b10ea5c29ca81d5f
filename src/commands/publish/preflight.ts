/**
 * What GitHub would refuse, asked before a run spends anything. GitHub has no query for permissions, so this sends requests that
 * have no effect: a blob that no commit contains, and a pull request from a branch to itself.
 */

import * as z from 'zod';
import { ownAccount } from '../../adapters/github/access.ts';
import { findHead } from '../../adapters/github/branch.ts';
import { answerOf, GitHubRefused, type OnGitHub } from '../../adapters/github/request.ts';
import type { Settings } from '../../config/schema.ts';
import { commitMessage } from '../../domain/github/publishing/commit-message.ts';
import { publishFailed } from '../../domain/run/outcome.ts';
import { withinMs } from '../../files/time-limit.ts';
import type { Person } from '../../ports/github.ts';
import { readRepository } from './job.ts';
import { type PublishPlace, stop } from './place.ts';
import { explained } from './refusals.ts';

/**
 * Ends with exit 11, the missing permissions and the fix if publishing is not permitted. Leaves nothing visible. `continues`: there
 * is a pull request to continue, so that none has to be opened, and rules are asked for with its round.
 */
export async function preflightPublishing(place: PublishPlace, continues: boolean): Promise<void> {
  const asked = await answerOf(askForAll(place, continues));
  if (asked.status === 'refused')
    stop(publishFailed('ERR_GITHUB_REFUSED', `Publishing would fail: ${explained(asked.refusal)}`));
}

async function askForAll(
  { repository, upstream, fork, settings }: PublishPlace,
  continues: boolean,
): Promise<void> {
  const head = settings.headRepository ?? repository;
  const defaultBranch = await defaultBranchOf(upstream, repository);
  if (head !== repository) await defaultBranchOf(fork, head);
  const base = settings.base ?? defaultBranch;
  if ((await findHead(upstream, base)) === null)
    stop(
      publishFailed(
        'ERR_BRANCH_MISSING',
        `There is no branch ${base} in ${repository}. Name one with --base.`,
      ),
    );
  // Git stores branches like files: `patchsmith` and `patchsmith/x` exclude each other.
  const parts = (settings.branch ?? 'patchsmith/x').split('/').slice(0, -1);
  for (const name of parts.map((_, depth) => parts.slice(0, depth + 1).join('/')))
    if ((await findHead(fork, name)) !== null)
      stop(
        publishFailed(
          'ERR_BRANCH_NAME_TAKEN',
          `The repository ${head} has a branch ${name}, so it cannot have branches below it, such as ${name}/x. Rename it, or choose another name with --branch.`,
        ),
      );
  await fork.write('POST /git/blobs', { content: '', encoding: 'utf-8' }, { isRepeatable: true });
  if (continues) return;
  await askForPullRequest(upstream, base);
  const branch = settings.branch ?? 'patchsmith/x';
  const isNew = settings.branch === null || (await findHead(fork, branch)) === null;
  await checkRules(fork, settings, { branch, isNew, isMerge: false });
}

/** To a token that may open pull requests GitHub answers that there is nothing to merge. */
async function askForPullRequest(upstream: OnGitHub, base: string): Promise<void> {
  const title = 'patchsmith checks whether it may open pull requests';
  const asked = await answerOf(
    upstream.write('POST /pulls', { title, head: base, base }, { isRepeatable: true }),
  );
  if (asked.status === 'refused' && asked.refusal.status !== 422) throw new GitHubRefused(asked.refusal);
}

async function defaultBranchOf(where: OnGitHub, name: string): Promise<string> {
  const { default_branch, archived, disabled } = await readRepository(where);
  const state = archived ? 'archived, so nothing can be published in it' : disabled && 'disabled by GitHub';
  if (state) stop(publishFailed('ERR_REPOSITORY_CLOSED', `The repository ${name} is ${state}.`));
  return default_branch;
}

/**
 * Stops if the rules of the branch refuse the commit of a run, with all that they refuse. Permits it if GitHub does not tell its
 * rules, as old servers and free plans do not: it enforces them anyway.
 */
export async function checkRules(
  where: OnGitHub,
  settings: Settings,
  ahead: Pick<CommitAhead, 'branch' | 'isNew' | 'isMerge'> & { readonly message?: string },
): Promise<void> {
  const rules = await answerOf(where.list('/rules/branches/{branch}', BranchRule, { branch: ahead.branch }));
  if (rules.status !== 'ok' || rules.data.length === 0) return;
  const isSigned = settings.sign === 'required';
  const author = settings.author ?? (await accountOf(where));
  const committer = isSigned ? GITHUB : (settings.committer ?? author);
  const facts = { runId: 'x', tree: '0'.repeat(40), base: null, request: null };
  const message = commitMessage('Change of a run', facts, { message: settings.commitMessage, trailers: [] });
  const commit = { message, ...ahead, isSigned, author: author.email, committer: committer.email };
  const refused: string[] = [];
  for (const rule of rules.data) {
    const why = whyRefused(rule, commit);
    if (why !== null && !(await mayBypass(where, rule))) refused.push(why);
  }
  if (refused.length === 0) return;
  stop(
    publishFailed(
      'ERR_GITHUB_REFUSED',
      `The branch ${ahead.branch} of ${where.owner}/${where.repo} would be refused, since its rules ${[...new Set(refused)].join('; and ')}.`,
    ),
  );
}

/** The committer of what GitHub signs. */
const GITHUB = { name: 'GitHub', email: 'noreply@github.com' };

async function mayBypass(where: OnGitHub, { ruleset_id }: BranchRule): Promise<boolean> {
  if (ruleset_id === undefined) return false;
  const schema = z.object({ current_user_can_bypass: z.string().optional() });
  const ruleset = await answerOf(where.get('/rulesets/{ruleset_id}', schema, { ruleset_id }));
  if (ruleset.status !== 'ok') return false;
  return ['always', 'exempt'].includes(ruleset.data.current_user_can_bypass ?? '');
}

/** The account of the token; the workflow's bot where GitHub does not name it. */
export async function accountOf({ github }: OnGitHub): Promise<Person> {
  const me = await ownAccount(github);
  const { login, id } = me ?? { login: 'github-actions[bot]', id: 41_898_282 };
  return { name: login, email: `${id}+${login}@users.noreply.github.com` };
}

/** A rule in GitHub's answer. */
const BranchRule = z.object({
  type: z.string(),
  ruleset_id: z.int().optional(),
  parameters: z.unknown().optional(),
});
type BranchRule = z.infer<typeof BranchRule>;

/** A commit that is to be made, as far as it is known. */
interface CommitAhead {
  readonly branch: string;
  /** The branch does not exist yet. */
  readonly isNew: boolean;
  readonly isSigned: boolean;
  readonly isMerge: boolean;
  readonly message: string;
  /** Email addresses. */
  readonly author: string;
  readonly committer: string;
}

const Pattern = z.object({
  operator: z.enum(['starts_with', 'ends_with', 'contains', 'regex']),
  pattern: z.string(),
  negate: z.boolean().nullish(),
});

/** What the rule refuses and how to fix it, after "its rules "; null if it permits the commit, or is one that only GitHub knows. */
function whyRefused({ type, parameters }: BranchRule, ahead: CommitAhead): string | null {
  switch (type) {
    case 'creation':
      return ahead.isNew ? 'restrict who may create it: choose another name with --branch' : null;
    case 'update':
      return ahead.isNew ? null : 'restrict who may update it: choose another name with --branch';
    case 'required_signatures':
      return ahead.isSigned
        ? null
        : 'require signed commits: use --sign required, with GITHUB_TOKEN or the token of a GitHub App';
    case 'required_linear_history':
      return ahead.isMerge ? 'permit no merges, and the base has moved: delete the branch' : null;
    case 'branch_name_pattern':
      return against(parameters, ahead.branch, 'its name', '--branch');
    case 'commit_message_pattern':
      return against(parameters, ahead.message, 'the commit message', '--commit-message');
    case 'commit_author_email_pattern':
      return against(parameters, ahead.author, `the author ${ahead.author}`, '--author');
    case 'committer_email_pattern':
      return against(parameters, ahead.committer, `the committer ${ahead.committer}`, '--committer');
    default:
      return null;
  }
}

function against(parameters: unknown, text: string, what: string, flag: string): string | null {
  const read = Pattern.safeParse(parameters);
  if (!read.success) return null;
  const { operator, pattern, negate } = read.data;
  const { says, fits } = OPERATORS[operator];
  let found: boolean | 'too long';
  try {
    // GitHub's engine matches in linear time; for Node.js the same expression may take years.
    found = withinMs(MAX_MATCH_MS, () => fits(text.trimEnd(), pattern));
  } catch (error) {
    // Only GitHub's engine knows such as `(?i)x`.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (found !== (negate === true)) return null;
  const how = `${negate ? 'not ' : ''}${says} ${JSON.stringify(pattern)}`;
  return `want ${what} to ${how}: set it with ${flag}`;
}

const MAX_MATCH_MS = 1_000;

const OPERATORS = {
  starts_with: { says: 'start with', fits: (text: string, part: string) => text.startsWith(part) },
  ends_with: { says: 'end with', fits: (text: string, part: string) => text.endsWith(part) },
  contains: { says: 'contain', fits: (text: string, part: string) => text.includes(part) },
  regex: { says: 'match', fits: (text: string, form: string) => new RegExp(form).test(text) },
} as const;
