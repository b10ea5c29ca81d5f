/**
 * Finds the pull request by patchsmith that an event is about before anything is checked out, so that a workflow can check out
 * its head.
 */

import * as z from 'zod';
import { readGitHubEvent } from '../../adapters/github/event-file.ts';
import { listOwnPulls } from '../../adapters/github/follow-up/continued-pull.ts';
import { ownerAndName } from '../../adapters/github/owner-and-name.ts';
import { GitHubRefused, getOrThrow, type OnGitHub } from '../../adapters/github/request.ts';
import type { Environment } from '../../domain/environment.ts';
import { done, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import type { GitHub } from '../../ports/github.ts';
import { describeRefusal } from '../trust/trust.ts';
import { pullOfEvent, triggerOf } from './find.ts';

/** `number` is null if the event is not about one; `conflicting` are those that a push to their base has left with conflicts. */
export interface LocatedPull {
  readonly outcome: RunOutcome;
  readonly number: number | null;
  readonly conflicting: readonly number[];
}

/** What is known about the job. */
export interface LocateQuestion {
  readonly env: Environment;
  /** OWNER/NAME; null if the environment does not name it. */
  readonly repository: string | null;
  readonly github: GitHub;
  /** Pauses before asking GitHub again for something that it has not computed yet, in milliseconds. */
  readonly pauseMs: number;
}

/** Reads only. */
export async function locate(question: LocateQuestion): Promise<LocatedPull> {
  const { env, repository, github } = question;
  const read = await readGitHubEvent(env);
  if (read.status !== 'ok' || repository === null)
    return nothing(
      usageError(
        'ERR_NOT_IN_ACTIONS',
        'mode locate: this is not a GitHub Actions job, or it names no repository.',
      ),
    );
  const where: OnGitHub = { github, ...ownerAndName(repository) };
  try {
    if (triggerOf(read.event) === 'conflict') {
      const conflicting = await conflictingOn(where, env.GITHUB_REF_NAME ?? '', question.pauseMs);
      return { outcome: done(said(conflicting)), number: conflicting[0] ?? null, conflicting };
    }
    const pull = await pullOfEvent(where, read.event);
    const number = pull === null || typeof pull === 'string' ? null : pull.number;
    return { outcome: done(said(number === null ? [] : [number])), number, conflicting: [] };
  } catch (error) {
    if (!(error instanceof GitHubRefused)) throw error;
    const why = describeRefusal(error.refusal, 'pull-requests: read');
    return nothing(usageError('ERR_GITHUB_UNREADABLE', `mode locate: pull requests cannot be read: ${why}`));
  }
}

function said(numbers: readonly number[]): string {
  if (numbers.length === 0) return 'The event does not refer to an open pull request of patchsmith.';
  return `Pull requests to continue: ${numbers.map((number) => `#${number}`).join(', ')}.`;
}

function nothing(outcome: RunOutcome): LocatedPull {
  return { outcome, number: null, conflicting: [] };
}

const Mergeable = z.object({ mergeable: z.boolean().nullish() });

/** GitHub computes it after a push; until then it is null. */
const LOOKS = 6;

/** Our pull requests into this branch that GitHub can no longer merge. */
async function conflictingOn(where: OnGitHub, base: string, pauseMs: number): Promise<number[]> {
  const pulls = (await listOwnPulls(where)).filter((pull) => pull.base.branch === base);
  const found: number[] = [];
  for (const { number } of pulls) {
    for (let look = 1; look <= LOOKS; look += 1) {
      const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
      const parameters = { pull_number: number };
      const { mergeable } = await getOrThrow(where, { route, parameters, schema: Mergeable });
      if (mergeable === false) found.push(number);
      if (typeof mergeable === 'boolean') break;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return found;
}
