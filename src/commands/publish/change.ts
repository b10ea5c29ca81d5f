/**
 * Publishes a change, for a pull request of its own and for one that is continued: look at the branch, rebuild the change on it,
 * commit, and say so on the pull request. Every step finds what an earlier publication has made.
 */

import type { Clone } from '../../adapters/github/clone.ts';
import { findPulls, type PullRequest, turnIntoDraft } from '../../adapters/github/pull-requests.ts';
import { makeSignedCommit } from '../../adapters/github/signed-commit.ts';
import { commitMessage, planTrailer } from '../../domain/github/publishing/commit-message.ts';
import { costTrailer } from '../../domain/github/publishing/costs.ts';
import { changeSubject } from '../../domain/github/publishing/plain-text.ts';
import { draftReasons, verificationOf } from '../../domain/github/publishing/policy.ts';
import { done, policyViolation, publishFailed, type RunOutcome } from '../../domain/run/outcome.ts';
import type { PathRules } from '../../domain/run/plan.ts';
import { listed, sentence } from '../../domain/text/words.ts';
import { warning } from '../../domain/warnings/warning.ts';
import type { Person } from '../../ports/github.ts';
import type { Base, PublishJob, PullPlace } from './job.ts';
import { stop } from './place.ts';
import { accountOf, checkRules } from './preflight.ts';
import { type PatchTrees, rebuildRun } from './rebuild-run.ts';

/** What is used of a pull request here. */
export type PullOfChange = Pick<PullRequest, 'number' | 'node_id' | 'html_url' | 'title' | 'body' | 'draft'>;

/** What a pull request is to say of the change. */
export interface ChangeFacts {
  readonly sha: string;
  /** The run ended before its work was done. */
  readonly unfinished: boolean;
  /** What may only be published as a draft. */
  readonly protectedPaths: readonly string[];
  /** Why it should be a draft, and whether it is one. */
  readonly drafts: readonly string[];
  readonly isDraft: boolean;
}

/** A branch as GitHub has it, which this run may be published on. */
export interface Ground {
  readonly clone: Clone;
  readonly base: Base;
  /** Where its pull requests are, or will be. */
  readonly place: PullPlace;
  /** Null for a branch that does not exist yet. */
  readonly head: string | null;
  /** A pull request that was closed without being merged and has to be reopened, or null. */
  readonly closed: PullRequest | null;
  readonly trees: PatchTrees;
  /** Globs of the pull request, which hold besides those of plan and settings. */
  readonly rules: readonly PathRules[];
  /** Named in the message of the commit. */
  readonly request: string | null;
  /** The parents of a commit of this tree; null where the branch is at it already. Stops where it must not be made. */
  parents(tree: string): Promise<readonly string[] | null>;
  /** Opens the pull request if there is none. */
  findOrOpen(facts: ChangeFacts): Promise<{ thing: PullRequest | PullOfChange; isNew: boolean }>;
  /** Whether its text had to be changed. */
  update(pull: PullOfChange, facts: ChangeFacts): Promise<boolean>;
  /** What is left to do when all of that is reported. */
  finish(pull: PullOfChange, sha: string, isNew: boolean): Promise<void>;
}

/** Others may move the branch at the same time; everything is then read again. */
const TRIES = 3;

/**
 * Never commits over what others have pushed. Reports the pull request as soon as it exists, whatever happens after that. `look`
 * gives null if the branch has moved since GitHub was asked.
 */
export async function publishChange(
  job: PublishJob,
  unfinished: boolean,
  look: () => Promise<Ground | null>,
): Promise<RunOutcome> {
  const { branch, publication, result, sayMade } = job;
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const ground = await look();
    if (ground === null) continue;
    const { clone, base, head } = ground;
    publication.base = { branch: base.branch, sha: base.sha };
    const { tree, protectedPaths } = await rebuildRun(job, clone, ground.trees, ground.rules);
    const parents = await ground.parents(tree);
    await draftFirst(job, ground, protectedPaths);
    let sha: string | null = null;
    if (parents === null && head !== null) {
      sha = head;
      publication.commit = { sha, tree, operation: 'none', verified: null };
      sayMade(`${branch} has this change already`);
    } else if (parents !== null && (await clone.fetch(parents)))
      sha = await makeCommit(job, ground, tree, parents);
    if (sha !== null) return tellOnPull(job, ground, { sha, unfinished, protectedPaths });
  }
  const number = result.followUp?.pullRequest;
  const name = number === undefined ? `The branch ${branch}` : `The branch of pull request #${number}`;
  return publishFailed(
    'ERR_PULL_REQUEST_MOVED',
    `${name} was updated by others ${TRIES} times in a row. Publish again.`,
  );
}

/** Makes all pull requests of a branch drafts before protected files reach it, from where they could be merged at once. */
async function draftFirst(job: PublishJob, ground: Ground, protectedPaths: readonly string[]): Promise<void> {
  if (protectedPaths.length === 0) return;
  const { place, closed } = ground;
  const open = await findPulls(place.upstream, place.wanted, 'open');
  for (const pull of open.length === 0 && closed !== null ? [closed] : open) {
    const why = pull.draft === true ? null : await turnIntoDraft(job.upstream, pull);
    if (why !== null)
      stop(
        policyViolation(
          'ERR_PROTECTED_PATH',
          `The patch changes protected files, which are only published in a draft: ${listed(protectedPaths, 10, 'file')}. Pull request #${pull.number} is not a draft, and GitHub refused to convert it: ${why} Nothing was pushed. Convert it to a draft yourself, or accept the files with --accept-protected GLOB.`,
        ),
      );
  }
}

async function tellOnPull(
  job: PublishJob,
  ground: Ground,
  given: Omit<ChangeFacts, 'drafts' | 'isDraft'>,
): Promise<RunOutcome> {
  const { branch, publication, result, settings, sayMade } = job;
  const drafts = draftReasons({
    ...given,
    setting: settings.draft,
    verification: verificationOf(result),
    wasDenied: result.deniedCount > 0,
  });
  const facts = { ...given, drafts, isDraft: drafts.length > 0 };
  const { thing: pull, isNew } = await ground.findOrOpen(facts);
  const isDraft = isNew ? pull.draft === true : await keptDraft(job, pull, drafts);
  const { number, html_url: url } = pull;
  const report = (operation: keyof typeof OPERATIONS) => {
    const made = { number, url, branch, headSha: given.sha, draft: isDraft, draftReasons: drafts };
    publication.pullRequest = { ...made, operation };
    return OPERATIONS[operation];
  };
  let operation = report(isNew ? 'created' : publication.commit?.operation === 'none' ? 'none' : 'updated');
  if (!isNew && (await ground.update(pull, { ...facts, isDraft }))) operation = report('updated');
  sayMade(`pull request #${number} ${operation}: ${url}`);
  await ground.finish(pull, given.sha, isNew);
  return done(`Pull request #${number} ${operation}: ${url}`);
}

const OPERATIONS = { created: 'opened', updated: 'updated', none: 'is up to date' } as const;

/** Whether it ends as a draft. One that people turned into a draft stays one. */
async function keptDraft(job: PublishJob, pull: PullOfChange, reasons: readonly string[]): Promise<boolean> {
  if (pull.draft === true || reasons.length === 0) return pull.draft === true;
  const why = await turnIntoDraft(job.upstream, pull);
  if (why === null) return true;
  job.publication.warnings.push(
    warning(
      'WARN_NOT_A_DRAFT',
      `Pull request #${pull.number} is open for review, though it should be a draft: ${reasons.join(', and ')}. GitHub refused to convert it: ${why}`,
    ),
  );
  return false;
}

/**
 * Makes the commit and moves the branch to it, which is reported in the publication. Null if someone else has moved the branch in the
 * meantime: nothing was overwritten.
 */
async function makeCommit(
  job: PublishJob,
  { clone, base, head, request }: Ground,
  tree: string,
  parents: readonly string[],
): Promise<string | null> {
  const { settings, fork, result, publication, branch, sayMade } = job;
  const { author, committer, signoff, coAuthors } = settings;
  const line = ({ name, email }: Person) => `${name} <${email}>`;
  // As `git commit --signoff` does it: by the committer, who is the author where none is named.
  const signer = signoff ? (committer ?? author ?? (await accountOf(fork))) : null;
  const trailers = [
    ...planTrailer(result.plan?.title),
    ...costTrailer(result),
    ...coAuthors.map((person) => `Co-authored-by: ${line(person)}`),
    ...(signer === null ? [] : [`Signed-off-by: ${line(signer)}`]),
  ];
  const facts = { runId: result.runId, tree, base: base.branch, request };
  const wishes = { message: settings.commitMessage, trailers };
  const message = commitMessage(changeSubject(result), facts, wishes);
  const order = { tree, parents, branch, head, message };
  const operation = head === null ? 'created' : 'updated';
  // It pushes nothing that GitHub could refuse.
  if (settings.dryRun)
    await checkRules(fork, settings, { branch, message, isNew: head === null, isMerge: parents.length > 1 });
  const report = (sha: string, verified: boolean | null) => {
    publication.commit = { sha, tree, operation, verified };
    sayMade(`${branch} ${operation}: ${sha.slice(0, 8)}`);
    return sha;
  };
  if (settings.sign === 'required') {
    const made = await makeSignedCommit(fork, clone, { ...order, author, committer });
    if (made.status === 'failed') stop(publishFailed('ERR_COMMIT_NOT_MADE', sentence(made.message)));
    return made.status === 'moved' ? null : report(made.sha, true);
  }
  const by = author ?? (await accountOf(fork));
  const sha = await clone.makeCommit({ ...order, author: by, committer: committer ?? by });
  return (await clone.push(sha, `refs/heads/${branch}`)) ? report(sha, null) : null;
}
