/** What a job on GitHub Actions knows about the event that started it. */

import * as z from 'zod';
import type { Environment } from '../../domain/environment.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import type { GitHubEvent, HeadCommit } from '../../domain/github/event.ts';
import {
  GitHubComment,
  GitHubIssue,
  GitHubUser,
  textOfComment,
  textOfIssue,
  type UntrustedText,
} from '../../domain/github/untrusted-text.ts';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { readBytes, textOf } from '../../files/regular-file.ts';

/** GitHub's own limit for a payload. */
const MAX_BYTES = 25 * 1_048_576;

/** The event that started this job, from the runner's file. */
export type EventRead =
  | { status: 'ok'; event: GitHubEvent }
  /** Not running in a GitHub Actions job. */
  | { status: 'none' }
  | Failed;

/** `env` is the environment set up by the runner. */
export async function readGitHubEvent(env: Environment): Promise<EventRead> {
  if (env.GITHUB_ACTIONS !== 'true') return { status: 'none' };
  const name = env.GITHUB_EVENT_NAME;
  const path = env.GITHUB_EVENT_PATH;
  if (!name) return unknown('GITHUB_ACTIONS is true, but GITHUB_EVENT_NAME is not set');
  if (!path) return { status: 'ok', event: eventOf(name, env, {}) };
  const read = await readBytes(path, { maxBytes: MAX_BYTES });
  if (read.status === 'failed') return unknown(`the file that GITHUB_EVENT_PATH names ${read.why}`);
  const json = jsonOrUndefined(textOf(read.bytes) ?? '');
  const payload = Payload.safeParse(json);
  if (!payload.success) {
    const [issue] = payload.error.issues;
    return unknown(
      `the payload of ${name} is not as GitHub writes it: ${issue?.path.join('.') || 'all of it'}: ${issue?.message}`,
    );
  }
  const missing = fieldsOf(name).find((field) => payload.data[field] == null);
  return missing === undefined
    ? { status: 'ok', event: eventOf(name, env, payload.data) }
    : unknown(`the payload of ${name} has no ${missing}`);
}

/** The fields that say whose code is checked out, or whose request it is: without them, all would be trusted. */
function fieldsOf(name: string): (keyof Payload)[] {
  if (name === 'workflow_run') return ['workflow_run'];
  if (name === 'issue_comment') return ['issue', 'comment'];
  return name.startsWith('pull_request') ? ['pull_request'] : [];
}

function unknown(why: string): Failed {
  return failed(`It is unknown what started this job: ${why}.`);
}

const Repository = z.object({ id: z.int(), full_name: z.string() });
const EventPullRequest = z.object({
  number: z.int(),
  head: z.object({ sha: z.string(), repo: Repository.nullish() }),
  base: z.object({ sha: z.string() }),
});

/** The fields used from any event; the rest is ignored. */
const Payload = z.object({
  sender: GitHubUser.nullish(),
  repository: Repository.nullish(),
  pull_request: EventPullRequest.nullish(),
  workflow_run: z
    .object({
      event: z.string(),
      head_sha: z.string(),
      head_repository: z.object({ id: z.int() }).nullish(),
      actor: GitHubUser.nullish(),
    })
    .nullish(),
  issue: GitHubIssue.nullish(),
  comment: GitHubComment.nullish(),
  review: GitHubComment.nullish(),
});
type Payload = z.infer<typeof Payload>;

function eventOf(name: string, env: Environment, payload: Payload): GitHubEvent {
  const { sender, repository, pull_request: pull, workflow_run: earlier, issue, comment, review } = payload;
  const rerunBy = env.GITHUB_TRIGGERING_ACTOR ?? null;
  return {
    name,
    repository: repository?.full_name ?? env.GITHUB_REPOSITORY ?? null,
    repositoryId: repository?.id ?? null,
    commit: env.GITHUB_SHA || null,
    sender: sender ?? null,
    rerunBy: !rerunBy || rerunBy === (sender?.login ?? env.GITHUB_ACTOR) ? null : rerunBy,
    pullRequest: pull
      ? { ...headOf(pull.head.sha, pull.head.repo), number: pull.number, baseCommit: pull.base.sha }
      : null,
    earlierRun: earlier
      ? {
          ...headOf(earlier.head_sha, earlier.head_repository),
          event: earlier.event,
          actor: earlier.actor ?? null,
        }
      : null,
    commentedPull: name === 'issue_comment' && issue?.pull_request ? issue.number : null,
    request: comment ? `comment ${comment.id}` : review ? `review ${review.id}` : null,
    texts: repository ? textsOf(payload, repository.full_name) : [],
    review:
      repository && pull && review && !comment
        ? textOfComment({ repository: repository.full_name, number: pull.number, title: '' }, review)
        : null,
  };
}

function headOf(commit: string, repository: { id: number } | null | undefined): HeadCommit {
  return { commit, repositoryId: repository?.id ?? null };
}

/** Issue and comment, where the event is about them. */
function textsOf({ issue, comment }: Payload, repository: string): UntrustedText[] {
  if (!issue) return [];
  const { number, title } = issue;
  const commented = comment ? [textOfComment({ repository, number, title }, comment)] : [];
  return [textOfIssue(repository, issue), ...commented];
}
