/**
 * Checks whether a publication would be permitted, before a run spends anything. GitHub has no query for that, so this sends
 * requests that have no effect: a blob that no commit contains, and a pull request from a branch to itself.
 */

import * as z from 'zod';
import { ownerAndName } from '../../adapters/github/request.ts';
import type { Settings } from '../../config/schema.ts';
import { publishFailed, type RunOutcome } from '../../domain/run/outcome.ts';
import type { GitHub, GitHubRefusal } from '../../ports/github.ts';
import { fixFor, refusalSentence } from './explain-refusal.ts';

/** What to check before a run that is to be published. */
export interface PreflightInput {
  /** Uses the token that will publish. */
  readonly github: GitHub;
  /** OWNER/NAME. */
  readonly repository: string;
  readonly settings: Pick<Settings, 'base' | 'branch' | 'headRepository'>;
  /** There is a pull request that the run continues, so that none has to be opened. Default: false. */
  readonly continues?: boolean;
}

/** Null if publishing is permitted, otherwise exit 11 with the missing permissions and the fix. Leaves nothing visible. */
export async function preflightPublishing({
  github,
  repository,
  settings,
  continues = false,
}: PreflightInput): Promise<RunOutcome | null> {
  const upstream = await repositoryAt(github, repository);
  if ('name' in upstream) return upstream;
  const head = settings.headRepository ?? repository;
  const fork = head === repository ? upstream : await repositoryAt(github, head);
  if ('name' in fork) return fork;

  const base = settings.base ?? upstream.defaultBranch;
  const named = await github.ask({
    route: 'GET /repos/{owner}/{repo}/git/ref/{ref}',
    parameters: { ...upstream.names, ref: `heads/${base}` },
    schema: z.object({ ref: z.string() }),
  });
  if (named.status === 'refused')
    return named.refusal.status === 404
      ? publishFailed(
          'ERR_BRANCH_MISSING',
          `There is no branch ${base} in ${repository}. Name one with --base.`,
        )
      : why(named.refusal);
  const obstacle = await obstacleTo(github, fork, settings.branch);
  if (obstacle !== null) return obstacle;

  const stored = await github.ask({
    route: 'POST /repos/{owner}/{repo}/git/blobs',
    parameters: { ...fork.names, content: '', encoding: 'utf-8' },
    schema: z.object({ sha: z.string() }),
    isRepeatable: true,
  });
  if (stored.status === 'refused') return why(stored.refusal);
  if (continues) return null;
  const asked = await github.ask({
    route: 'POST /repos/{owner}/{repo}/pulls',
    parameters: {
      ...upstream.names,
      title: 'patchsmith checks whether it may open pull requests',
      head: base,
      base,
    },
    schema: z.unknown(),
    isRepeatable: true,
  });
  // To a token that may open pull requests GitHub answers that there is nothing to merge.
  return asked.status === 'ok' || asked.refusal.status === 422 ? null : why(asked.refusal);
}

interface Found {
  readonly names: { owner: string; repo: string };
  readonly fullName: string;
  readonly defaultBranch: string;
}

async function repositoryAt(github: GitHub, fullName: string): Promise<Found | RunOutcome> {
  const names = ownerAndName(fullName);
  const answer = await github.ask({
    route: 'GET /repos/{owner}/{repo}',
    parameters: names,
    schema: z.object({
      default_branch: z.string(),
      archived: z.boolean().default(false),
      disabled: z.boolean().default(false),
    }),
  });
  if (answer.status === 'refused') return why(answer.refusal);
  const { archived, disabled, default_branch: defaultBranch } = answer.data;
  if (archived || disabled) {
    const state = archived ? 'archived, so nothing can be published in it' : 'disabled by GitHub';
    return publishFailed('ERR_REPOSITORY_CLOSED', `The repository ${fullName} is ${state}.`);
  }
  return { names, fullName, defaultBranch };
}

/** Git stores branches like files: `patchsmith` and `patchsmith/x` exclude each other. */
async function obstacleTo(
  github: GitHub,
  { names, fullName }: Found,
  branch: string | null,
): Promise<RunOutcome | null> {
  const parts = (branch ?? 'patchsmith/x').split('/').slice(0, -1);
  const above = parts.map((_, depth) => parts.slice(0, depth + 1).join('/'));
  for (const name of above) {
    const answer = await github.ask({
      route: 'GET /repos/{owner}/{repo}/git/ref/{ref}',
      parameters: { ...names, ref: `heads/${name}` },
      schema: z.object({ ref: z.string() }),
    });
    if (answer.status === 'ok')
      return publishFailed(
        'ERR_BRANCH_NAME_TAKEN',
        `The repository ${fullName} has a branch ${name}, so it cannot have branches below it, such as ${name}/x. Rename it, or choose another name with --branch.`,
      );
    if (answer.refusal.status !== 404) return why(answer.refusal);
  }
  return null;
}

function why(refusal: GitHubRefusal): RunOutcome {
  const fix = fixFor(refusal, { workflows: [] });
  return publishFailed(
    'ERR_GITHUB_REFUSED',
    [`Publishing would fail: ${refusalSentence(refusal)}`, fix].filter((part) => part !== '').join(' '),
  );
}
