/** Stand-in for the texts of a pull request and of the comment on an issue. */

import type { ChangedFile, RunOutcome, RunResult } from '../domain/outcome.ts';
import { plainLine } from '../domain/publishing/plain-text.ts';

export interface PullRequestFacts {
  readonly result: RunResult;
  readonly files: readonly ChangedFile[];
  readonly notes: readonly string[];
  readonly runUrl: string | null;
  readonly fixes: { readonly repository: string; readonly number: number } | null;
  readonly marker: string;
}

export function pullRequestText(facts: PullRequestFacts): { title: string; body: string } {
  const { result, files, notes, fixes, marker } = facts;
  const lines = [
    plainLine(result.summary, 2_000),
    ...notes,
    ...files.map(({ path }) => `- ${plainLine(path, 200)}`),
    ...(fixes === null ? [] : [`Fixes ${fixes.repository}#${fixes.number}`]),
    marker,
  ];
  return { title: plainLine(result.plan?.title ?? 'Changes', 200), body: lines.join('\n\n') };
}

export interface CommentFacts {
  readonly result: RunResult;
  readonly outcome: RunOutcome;
  readonly pullRequestUrl: string | null;
  readonly runUrl: string | null;
  readonly marker: string;
}

export function commentText({ outcome, pullRequestUrl, marker }: CommentFacts): string {
  return [plainLine(outcome.reason, 1_000), pullRequestUrl ?? '', marker].join('\n\n');
}
