/**
 * The log of rounds: a ref of the repository, each commit of it one round. Only a token with `contents: write` can move it, and
 * GitHub moves it forward only, so that of two who add a round at the same moment one is refused and reads again.
 */

import * as z from 'zod';
import {
  DAY_MS,
  type RecordedRound,
  ROUNDS_REF,
  type Round,
  type RoundCounts,
  roundIn,
  roundMessage,
} from '../../domain/github/follow-up.ts';
import type { GitHubRefusal } from '../../ports/github.ts';
import { Ref } from './branch.ts';
import type { OwnPull } from './pull-requests.ts';
import { GitHubObjectId, GitHubRefused, type OnGitHub } from './request.ts';

const NAME = ROUNDS_REF.replace('refs/', '');

const WithId = z.object({ sha: GitHubObjectId });
const LoggedCommit = z.object({
  sha: GitHubObjectId,
  commit: z.object({
    message: z.string(),
    committer: z.object({ date: z.iso.datetime({ offset: true }) }),
  }),
});

/**
 * The rounds, oldest first, as far back as the pull request, and at least a day. `tip` is null before the first one. `damaged`
 * is a commit that records no round, or null. Throws `GitHubRefused`.
 */
export async function readRounds(where: OnGitHub, { createdAt }: Pick<OwnPull, 'createdAt'>, now: number) {
  const ref = await where.find('/git/ref/{ref}', Ref, { ref: NAME });
  const rounds: RecordedRound[] = [];
  let damaged: string | null = null;
  if (ref === null) return { tip: null, rounds, damaged };
  const { sha } = ref.object;
  const since = new Date(Math.min(Date.parse(createdAt), now - DAY_MS)).toISOString();
  const commits = await where.list('/commits', LoggedCommit, { sha, since });
  const { tree } = await where.get('/git/commits/{commit_sha}', z.object({ tree: WithId }), {
    commit_sha: sha,
  });
  for (const { sha: id, commit } of commits.reverse()) {
    const round = roundIn(commit.message);
    if (round === null) damaged = id;
    else rounds.push({ ...round, at: Date.parse(commit.committer.date) });
  }
  return { tip: { sha, tree: tree.sha }, rounds, damaged };
}

/** Null if it was added, else how GitHub refused it: others may have added one in the meantime. Throws `GitHubRefused`. */
export async function addRound(
  where: OnGitHub,
  { tip }: Pick<Awaited<ReturnType<typeof readRounds>>, 'tip'>,
  round: Round,
  counts: RoundCounts,
): Promise<GitHubRefusal | null> {
  const more = { schema: WithId, isRepeatable: true, planned: { sha: '0'.repeat(40) } };
  const tree = tip?.tree ?? (await where.write('POST /git/trees', README, more)).sha;
  const parents = tip === null ? [] : [tip.sha];
  const message = roundMessage(round, counts);
  const { sha } = await where.write('POST /git/commits', { message, tree, parents }, more);
  try {
    if (tip === null) await where.write('POST /git/refs', { ref: ROUNDS_REF, sha }, { isRepeatable: true });
    else await where.write('PATCH /git/refs/{ref}', { ref: NAME, sha, force: false });
    return null;
  } catch (error) {
    // It exists by now, or has moved.
    if (error instanceof GitHubRefused && error.refusal.status === 422) return error.refusal;
    throw error;
  }
}

const README = {
  tree: [
    {
      path: 'README.md',
      mode: '100644',
      type: 'blob',
      content:
        'Each commit here is a round in which patchsmith continued a pull request, recorded before a model was asked. Its caps are counted from them.\n',
    },
  ],
};
