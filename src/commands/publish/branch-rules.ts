/** What the rules of a branch refuse: asked by `prepare` before a run, and by `publish` before the commit. */

import * as z from 'zod';
import { ownAccount } from '../../adapters/github/access.ts';
import { answerOf, type OnGitHub } from '../../adapters/github/request.ts';
import type { Settings } from '../../config/schema.ts';
import { BranchRule, type CommitAhead, whyRefused } from '../../domain/github/publishing/branch-rules.ts';
import { commitMessage } from '../../domain/github/publishing/commit-message.ts';
import { publishFailed } from '../../domain/run/outcome.ts';
import type { Person } from '../../ports/github.ts';
import { stop } from './place.ts';

/** The same before a run, for a message of the kind that its commit will have. */
export function checkRulesAhead(
  where: OnGitHub,
  settings: Settings,
  ahead: Pick<CommitAhead, 'branch' | 'isNew' | 'isMerge'>,
): Promise<void> {
  const facts = { runId: 'x', tree: '0'.repeat(40), base: null, request: null };
  const message = commitMessage('Change of a run', facts, { message: settings.commitMessage, trailers: [] });
  return checkRules(where, settings, { ...ahead, message });
}

/** Exit 11 with all that they refuse; none if GitHub does not tell its rules. */
export async function checkRules(
  where: OnGitHub,
  settings: Settings,
  ahead: Pick<CommitAhead, 'branch' | 'isNew' | 'isMerge' | 'message'>,
): Promise<void> {
  const rules = await answerOf(where.list('/rules/branches/{branch}', BranchRule, { branch: ahead.branch }));
  // GitHub enforces them anyway. Old servers and free plans have none.
  if (rules.status !== 'ok' || rules.data.length === 0) return;
  const isSigned = settings.sign === 'required';
  const author = settings.author ?? (await accountOf(where));
  const committer = isSigned ? GITHUB : (settings.committer ?? author);
  const commit = {
    ...ahead,
    isSigned,
    author: author.email,
    committer: committer.email,
  };
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
