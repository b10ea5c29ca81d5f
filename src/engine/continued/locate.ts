/** Finds the pull requests by patchsmith that an event is about before anything is checked out, so that a workflow can. */

import * as z from 'zod';
import { mayHaveFailedChecks } from '../../adapters/github/checks.ts';
import { listOwnPulls, type OwnPull, readOwnPull } from '../../adapters/github/pull-requests.ts';
import type { OnGitHub } from '../../adapters/github/request.ts';
import type { Environment } from '../../domain/environment.ts';
import type { GitHubEvent } from '../../domain/github/event.ts';
import type { Trigger } from '../../domain/github/follow-up.ts';
import { type Stopped, stopped } from '../../domain/run/outcome.ts';
import { notContinued, numberIn, numberOfEvent, pullOfEvent, triggerOf } from './find.ts';

const Mergeable = z.object({ mergeable: z.boolean().nullish() });

/** GitHub computes it after a push; until then it is null. */
const LOOKS = 6;

/** Our pull requests into this branch that GitHub can no longer merge. */
async function conflictingOn(where: OnGitHub, base: string, pauseMs: number): Promise<number[]> {
  const pulls = (await listOwnPulls(where)).filter((pull) => pull.base.branch === base);
  const found: number[] = [];
  for (const { number } of pulls) if (await isConflicting(where, number, pauseMs)) found.push(number);
  return found;
}

async function isConflicting(where: OnGitHub, number: number, pauseMs: number): Promise<boolean> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const { mergeable } = await where.get('/pulls/{pull_number}', Mergeable, { pull_number: number });
    if (typeof mergeable === 'boolean') return !mergeable;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return false;
}

/** The pull requests that a job continues. `ordinary`: none, so that its run begins from the base. */
export type PullsToContinue =
  | { status: 'ordinary' }
  | { status: 'found'; trigger: Trigger; pulls: readonly OwnPull[] }
  | Stopped;

/**
 * `asked` is the setting, and `pauseMs` the time before GitHub is asked again for what it has not computed yet. Without a person asking, only those with a conflict or a failed check. Refuses what is asked for on a
 * pull request that patchsmith did not make. Throws `GitHubRefused`.
 */
export async function pullsToContinue(
  where: OnGitHub,
  {
    asked,
    event,
    env,
    pauseMs,
  }: { asked: string; event: GitHubEvent | null; env: Environment; pauseMs: number },
): Promise<PullsToContinue> {
  if (asked === 'never') return { status: 'ordinary' };
  const trigger = triggerOf(event);
  const found = (pulls: readonly OwnPull[]): PullsToContinue => ({ status: 'found', trigger, pulls });
  if (asked === 'auto' && trigger === 'conflict') {
    const numbers = await conflictingOn(where, env.GITHUB_REF_NAME ?? '', pauseMs);
    const pulls = await Promise.all(numbers.map((number) => readOwnPull(where, number)));
    return found(pulls.filter((pull) => typeof pull !== 'string'));
  }
  const pull = asked === 'auto' ? await pullOfEvent(where, event) : await readOwnPull(where, numberIn(asked));
  if (pull === null || typeof pull === 'string') {
    const isAuto = asked === 'auto';
    if (isAuto && trigger !== 'request') return found([]);
    const number = isAuto ? numberOfEvent(event) : numberIn(asked);
    // Without a comment or a review, nothing was asked for there.
    if (pull === null || number === null || (isAuto && event?.request === null))
      return { status: 'ordinary' };
    return stopped(notContinued(`Pull request #${number}`, pull));
  }
  const isDue =
    trigger === 'request' ||
    (trigger === 'check'
      ? await mayHaveFailedChecks(where, pull.head)
      : await isConflicting(where, pull.number, pauseMs));
  return found(isDue ? [pull] : []);
}
