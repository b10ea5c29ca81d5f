/** Whether git merges two commits on GitHub cleanly, tried in a clone of just these. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CleanMerge, mergeBaseOf } from '../../../adapters/github/branch.ts';
import { openPartialClone, type PartialClone } from '../../../adapters/github/committers/partial-clone.ts';
import { cleanTree, mergeTrees } from '../../../git/store/merge-trees.ts';
import type { PublishJob } from '../job.ts';

/** The inputs of a clone. */
type CloneSource = Pick<PublishJob, 'fork' | 'settings' | 'scratch' | 'token' | 'signal' | 'env'>;

/** A clone of the repository with the branch, separate from the one that commits are pushed from. */
export function cloneToMerge({ fork, settings, scratch, token, signal, env }: CloneSource): PartialClone {
  const folder = join(scratch, 'merges');
  mkdirSync(folder, { recursive: true });
  const url = `${settings.githubServerUrl}/${fork.owner}/${fork.repo}.git`;
  return openPartialClone({ folder, url, token, signal, env });
}

/** The tree of a merge without conflicts; null otherwise. */
export function cleanMergeOn(job: CloneSource & Pick<PublishJob, 'upstream'>): CleanMerge {
  const clone = cloneToMerge(job);
  return async (ours, theirs) => {
    const before = await mergeBaseOf(job.upstream, theirs, ours);
    if ((await clone.fetch([before, ours, theirs])) !== null) return null;
    return cleanTree(await mergeTrees(clone.gitDir, { before, ours, theirs }, clone.network.env));
  };
}
