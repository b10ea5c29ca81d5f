/** The commit of a change. Its branch only ever moves forward, and never over someone else's commit. */

import type { Clone } from '../../adapters/github/clone.ts';
import { makeSignedCommit } from '../../adapters/github/signed-commit.ts';
import { commitMessage, planTrailer } from '../../domain/github/publishing/commit-message.ts';
import { costTrailer } from '../../domain/github/publishing/costs.ts';
import { changeSubject } from '../../domain/github/publishing/plain-text.ts';
import { publishFailed } from '../../domain/run/outcome.ts';
import { sentence } from '../../domain/text/words.ts';
import type { CommitOrder, Person } from '../../ports/github.ts';
import { accountOf, checkRules } from './branch-rules.ts';
import type { PublishJob } from './job.ts';
import { stop } from './place.ts';

/** The commit to make; `base` and `request` are stated in its message. */
export interface CommitToMake extends Pick<CommitOrder, 'tree' | 'parents' | 'branch' | 'head'> {
  readonly base: string;
  readonly request: string | null;
}

/**
 * Makes the commit and moves the branch to it, which is reported in the publication. Null if someone else has moved the branch in the
 * meantime: nothing was overwritten.
 */
export async function makeCommit(
  job: PublishJob,
  clone: Clone,
  wanted: CommitToMake,
): Promise<string | null> {
  const { settings, fork, result, publication, sayMade } = job;
  const { base, request, ...order } = wanted;
  const { author, committer, trailers } = await peopleOf(job);
  const facts = { runId: result.runId, tree: order.tree, base, request };
  const message = commitMessage(changeSubject(result), facts, {
    message: settings.commitMessage,
    trailers: [...planTrailer(result.plan?.title), ...costTrailer(result), ...trailers],
  });
  const { branch, parents, head } = order;
  const operation = head === null ? 'created' : 'updated';
  await checkRules(fork, settings, { branch, message, isNew: head === null, isMerge: parents.length > 1 });
  const report = (sha: string, verified: boolean | null) => {
    publication.commit = { sha, tree: order.tree, operation, verified };
    sayMade(`${branch} ${operation}: ${sha.slice(0, 8)}`);
    return sha;
  };
  if (settings.sign === 'required') {
    const made = await makeSignedCommit(fork, clone, { ...order, message, author, committer });
    if (made.status === 'failed') stop(publishFailed('ERR_COMMIT_NOT_MADE', sentence(made.message)));
    return made.status === 'moved' ? null : report(made.sha, true);
  }
  const by = author ?? (await accountOf(fork));
  const sha = await clone.makeCommit({ ...order, message, author: by, committer: committer ?? by });
  return (await clone.push(sha, `refs/heads/${branch}`)) ? report(sha, null) : null;
}

async function peopleOf({ fork, settings }: PublishJob) {
  const { author, committer, signoff, coAuthors } = settings;
  const line = ({ name, email }: Person) => `${name} <${email}>`;
  // As `git commit --signoff` does it: by the committer, who is the author where none is named.
  const signer = signoff ? (committer ?? author ?? (await accountOf(fork))) : null;
  const trailers = [
    ...coAuthors.map((person) => `Co-authored-by: ${line(person)}`),
    ...(signer === null ? [] : [`Signed-off-by: ${line(signer)}`]),
  ];
  return { author, committer, trailers };
}
