/** A run that ended before it had a plan, or that left nothing: the issue of `--issue` is where people learn why. */

import { commentThere } from '../../../adapters/github/issues.ts';
import { conclude, type PublicationSoFar } from '../../../domain/github/publishing/publication.ts';
import { noChange, type RunOutcome } from '../../../domain/run/outcome.ts';
import type { RunResult } from '../../../domain/run/result.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import { ended, type GitHubWanted, openFor } from '../ended.ts';
import { repositoryNamed, runUrlOf } from '../job.ts';
import { commentOnIssue } from './comment-on-issue.ts';
import { labelIssue, readIssueOfWork } from './issue-of-work.ts';

/** What is known of such a run. */
export interface WithoutPlan extends GitHubWanted {
  readonly repository: string;
  readonly publication: PublicationSoFar;
  /** How the run ended, which is how the publication ends. */
  readonly end: RunOutcome;
  /** Contains no secrets. */
  readonly result: RunResult;
  readonly patchFile?: string;
  readonly isStep?: boolean;
}

/** Concludes the publication; what keeps the comment from being made is a warning, and does not hide the end. */
export async function explainedOnIssue(input: WithoutPlan): Promise<PublicationSoFar> {
  const { settings, repository, publication, result, say, env } = input;
  let { end } = input;
  if (settings.issue === null) return conclude(publication, end);
  const { github, signal } = await openFor(input);
  const patchFile = input.patchFile ?? null;
  const place = { settings, signal, result, patchFile };
  const failed = await ended(place, async () => {
    const read = await readIssueOfWork(github, repository, settings);
    if (read.status === 'refused') return read.outcome;
    if (read.found === null) return null;
    const job = {
      settings,
      signal,
      result,
      publication,
      upstream: repositoryNamed(github, repository),
      askedIn: read.found.askedIn,
      issueMarker: read.found.marker,
      patchFile,
      runUrl: runUrlOf(settings.githubServerUrl, env),
      isStep: input.isStep === true,
      sayMade: settings.dryRun ? () => {} : say,
    };
    const { askedIn, marker } = read.found;
    const there =
      result.runId === '' && (await commentThere(job.upstream, { issue: askedIn.number, marker }));
    if (there && numberOf(there) > numberOf(job.runUrl ?? '')) {
      end = noChange('No run began in this workflow run: a newer one works on the issue.');
      return null;
    }
    await commentOnIssue(job, end);
    await labelIssue(job, end.exitCode === 0 ? 'done' : 'failed');
    return null;
  });
  if (failed !== null) publication.warnings.push(warning('WARN_NO_COMMENT', failed.reason));
  return conclude(publication, end);
}

/** The number of the workflow run that a text links to: later ones are higher. A newer run cancels one that waits for its turn. */
function numberOf(text: string): number {
  return Number(/\/actions\/runs\/(\d+)/.exec(text)?.[1] ?? 0);
}
