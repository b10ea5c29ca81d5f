/** Commits with git itself and an ordinary push: no checkout, no hooks, nobody's settings, and no force. */

import { failed } from '../../../domain/failed.ts';
import { askGit, type GitCall, runGit } from '../../../git/git.ts';
import { ObjectStore } from '../../../git/store/object-store.ts';
import { ScratchIndex } from '../../../git/store/trees.ts';
import type { CommitOrder, Committed, Committer, Person } from '../../../ports/github.ts';
import { type ClonePlace, openPartialClone } from './partial-clone.ts';

/** Where to push from, where to, and as whom. */
export interface PushPlace extends ClonePlace {
  /** Stands for an author or committer that an order does not name. */
  readonly self: Person;
}

/** Commits with git and pushes over https, for patches that the API does not accept. */
export function pushCommitter(place: PushPlace): Committer {
  const clone = openPartialClone(place);
  const { gitDir, network } = clone;
  const ask = (args: readonly string[], more: Partial<GitCall> = {}) => ({
    cwd: place.folder,
    args: [`--git-dir=${gitDir}`, ...args],
    ...more,
  });
  return {
    async commit(order): Promise<Committed> {
      const unfetched = await clone.fetch([order.baseCommit, ...order.parents]);
      if (unfetched !== null) return failed(unfetched);
      const tree = await makeTree(gitDir, order);
      if (tree !== order.tree) return failed(`git made the tree ${tree} instead of ${order.tree}`);
      const made = await runGit(
        ask(['commit-tree', tree, ...order.parents.flatMap((parent) => ['-p', parent])], {
          env: identity(order.author ?? place.self, order.committer ?? place.self),
          input: Buffer.from(order.message),
        }),
      );
      const sha = made.toString('latin1').trim();
      const push = ['push', '--porcelain', '--no-verify', 'origin', `${sha}:refs/heads/${order.branch}`];
      const pushed = await askGit(ask(push, network));
      if (pushed.exitCode === 0) return { status: 'made', sha, verified: null };
      const answer = `${pushed.stdout.toString('utf8')}\n${pushed.stderr}`;
      if (MOVED.test(answer)) return { status: 'moved' };
      return failed(`git push was refused: ${refusalIn(answer)}`);
    },
  };
}

/** Someone else was faster: before the push began, or while the server processed it. */
const MOVED =
  /\[rejected\] \((?:fetch first|non-fast-forward|stale info|already exists)\)|cannot lock ref '[^']*': (?:reference already exists|is at [0-9a-f]+ but expected)/;

async function makeTree(gitDir: string, { baseTree, files }: CommitOrder): Promise<string> {
  const store = new ObjectStore(gitDir, 'sha1');
  for (const { state } of files) if (state?.bytes) store.write(state.bytes, null);
  const index = new ScratchIndex(gitDir, 'push.index');
  await index.readTree(baseTree);
  return index.editedTree(files);
}

function identity(author: Person, committer: Person): Record<string, string> {
  return {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: committer.name,
    GIT_COMMITTER_EMAIL: committer.email,
  };
}

/** The server's own words, if it gave any. */
function refusalIn(answer: string): string {
  const reason = /\[remote rejected\] \((.{0,300})\)$/m.exec(answer)?.[1];
  const lines = [...answer.matchAll(/^remote: (?:error: )?(.*\S)/gm)].map(([, line]) => line);
  return [...lines, ...(reason === undefined ? [] : [reason])].join(' ') || answer.trim().slice(0, 2_000);
}
