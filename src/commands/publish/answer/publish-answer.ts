/** The findings that a run answered with, as a review, a check run or SARIF. The run directory is hostile: only the schema and the caps count. */

import { join } from 'node:path';
import { putCheckRun } from '../../../adapters/github/check-runs.ts';
import { diffOf, putReview, readPull } from '../../../adapters/github/reviews.ts';
import {
  bySeverity,
  countReported,
  FindingsReport,
  type ReportedFinding,
  reportedLines,
  shownLines,
} from '../../../domain/findings/reported.ts';
import { done, noChange, publishFailed, type RunOutcome, usageError } from '../../../domain/run/outcome.ts';
import { pluralize } from '../../../domain/text/words.ts';
import { sha256Of } from '../../../files/hash.ts';
import { writeDocument } from '../../../files/replace-file.ts';
import { checkAnnotation, findingComment, reportBody, sarifOf } from '../../../texts/findings.ts';
import type { PublishJob } from '../job.ts';

/** Most comments at lines in a review; the other findings are in its body. */
const MAX_COMMENTS = 30;

/** Publishes the answer as `--publish-as` says. Throws `GitHubRefused`. */
export async function publishAnswer(job: PublishJob): Promise<RunOutcome> {
  const { result, settings, publication } = job;
  publication.branch = null;
  const { outcome, exitCode, reason, errorCode } = result;
  if (result.answer === null)
    return outcome !== null && exitCode !== null && exitCode !== 0
      ? { name: outcome, exitCode, reason: `The run has no answer: ${reason}`, errorCode }
      : usageError('ERR_NOTHING_TO_PUBLISH', 'The run has no answer. Run it with --output-schema findings.');
  const parsed = FindingsReport.safeParse(result.answer);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return usageError(
      'ERR_NOT_FINDINGS',
      `The answer of the run is not one of --output-schema findings (${issue?.path.join('.') || 'all of it'}: ${issue?.message}).`,
    );
  }
  if (result.baseDirty === true && settings.publishAs !== 'sarif')
    return usageError(
      'ERR_BASE_DIRTY',
      'The run began with uncommitted changes, so that its lines are not those of a commit. Commit them, and run it again.',
    );
  const findings = bySeverity(parsed.data.findings);
  switch (settings.publishAs) {
    case 'pull-request':
      throw new Error('A pull request is no answer.');
    case 'sarif':
      return writeSarif(job, findings);
    case 'check':
      return publishCheck(job, findings);
    case 'review':
      return publishReview(job, findings);
  }
}

function writeSarif({ run, settings, publication }: PublishJob, findings: ReportedFinding[]): RunOutcome {
  const file = join(run.directory.path, 'findings.sarif');
  const title = titleOf(settings);
  const sarif = sarifOf({ findings, version: publication.patchsmith, title });
  const shown = sarif.runs[0]?.results.length ?? 0;
  if (!settings.dryRun) {
    const unwritten = writeDocument(file, `${JSON.stringify(sarif, null, 2)}\n`);
    if (unwritten !== null) return usageError('ERR_REPORT_UNWRITTEN', unwritten);
  }
  publication.answer = {
    as: 'sarif',
    url: null,
    file,
    operation: 'created',
    findings: shown,
    atLines: shown,
  };
  return done(`${countReported(findings)} in ${file}.`);
}

async function publishCheck(job: PublishJob, findings: ReportedFinding[]): Promise<RunOutcome> {
  const { upstream, result, runUrl, publication, settings, sayMade } = job;
  const sha = result.baseSha;
  if (sha === null) return usageError('ERR_NOTHING_TO_PUBLISH', 'The run names no commit to check.');
  const title = titleOf(settings);
  const annotations = findings.flatMap((finding) => checkAnnotation(finding) ?? []);
  const rest = findings.filter((finding) => reportedLines(finding) === null);
  const digest = sha256Of(JSON.stringify([title, findings]));
  const [worst] = findings;
  const made = await putCheckRun(upstream, {
    name: title,
    sha,
    conclusion: worst === undefined ? 'success' : worst.severity === 'error' ? 'failure' : 'neutral',
    title: countReported(findings),
    summary: reportBody({ result, all: findings, rest, title, runUrl }),
    annotations,
    digest,
  });
  const counts = { findings: findings.length, atLines: annotations.length };
  publication.answer = { as: 'check', file: null, ...made, ...counts };
  sayMade(`check run ${made.operation}: ${made.url}`);
  return done(`Check run ${made.operation}, with ${countReported(findings)}.`);
}

async function publishReview(job: PublishJob, findings: ReportedFinding[]): Promise<RunOutcome> {
  const { upstream, result, runUrl, publication, settings, sayMade } = job;
  const title = titleOf(settings);
  const found = await pullOf(job);
  if (typeof found !== 'number') return found;
  const marker = `<!-- patchsmith-findings:${sha256Of(title).slice(0, 8)} -->`;
  const shown = new Map(
    (await diffOf(upstream, found)).map(({ filename, patch }) => [filename, shownLines(patch ?? '')]),
  );
  const rest: ReportedFinding[] = [];
  const comments = findings.flatMap((finding) => {
    const lines = reportedLines(finding);
    const isShown = shown.get(finding.path)?.some((part) => isWithin(lines, part)) ?? false;
    if (lines !== null && isShown) return [{ ...lines, finding }];
    rest.push(finding);
    return [];
  });
  rest.unshift(...comments.splice(MAX_COMMENTS).map(({ finding }) => finding));
  const made = await putReview(upstream, {
    pull: found,
    head: result.baseSha ?? '',
    marker,
    body: `${reportBody({ result, all: findings, rest, title, runUrl })}\n\n${marker}`,
    comments: comments.map(({ finding, start, end }) => {
      return { path: finding.path, start, end, body: findingComment(finding, marker) };
    }),
    isEmpty: findings.length === 0,
  });
  if (made === null) return noChange(`The run has no findings, and pull request #${found} needs no review.`);
  const counts = { findings: findings.length, atLines: comments.length };
  publication.answer = { as: 'review', file: null, ...made, ...counts };
  sayMade(`review of pull request #${found} ${made.operation}: ${made.url}`);
  return done(
    `Review of pull request #${found} ${made.operation}, with ${countReported(findings)}, ${pluralize(comments.length, 'comment')} at lines.`,
  );
}

function isWithin(
  lines: { start: number; end: number } | null,
  part: { start: number; end: number },
): boolean {
  return lines !== null && lines.start >= part.start && lines.end <= part.end;
}

/** That of `--issue`, if its head is what the run has looked at: other commits have other lines. */
async function pullOf({ upstream, askedIn, result }: PublishJob): Promise<number | RunOutcome> {
  const number = askedIn?.isHere === true ? askedIn.number : 0;
  const pull = number === 0 ? null : await readPull(upstream, number);
  if (pull === null)
    return usageError('ERR_NO_PULL_REQUEST', 'Name the pull request to review with --issue N.');
  if (pull.head.sha === result.baseSha && pull.state === 'open') return number;
  return publishFailed(
    'ERR_PULL_REQUEST_MOVED',
    `Pull request #${number} is ${pull.state}, at ${pull.head.sha.slice(0, 8)}, and the run looked at ${result.baseSha?.slice(0, 8) ?? 'no commit'}. Run it again on the head of the open pull request: a workflow checks that out with the input ref, github.event.pull_request.head.sha.`,
  );
}

/** Of all reports with the same one, the newest is shown. */
function titleOf({ title }: PublishJob['settings']): string {
  return title ?? 'patchsmith';
}
