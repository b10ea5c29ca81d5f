/** The findings that a run answered with, as a review, a check run or SARIF. Its directory is hostile: the schema and caps decide. */

import { join } from 'node:path';
import { putCheckRun } from '../../adapters/github/checks.ts';
import { answerOf } from '../../adapters/github/request.ts';
import { diffOf, putReview, readPull } from '../../adapters/github/reviews.ts';
import {
  bySeverity,
  countReported,
  FindingsReport,
  type ReportedFinding,
  reportedLines,
  shownLines,
} from '../../domain/findings/reported.ts';
import { consequenceOf } from '../../domain/github/publishing/policy.ts';
import type { Publication } from '../../domain/github/publishing/publication.ts';
import { done, noChange, publishFailed, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { sha256Of } from '../../files/hash.ts';
import { writeDocument } from '../../files/replace-file.ts';
import { checkAnnotation, findingComment, reportBody, sarifOf } from '../../texts/findings.ts';
import { cloneFor, type PublishJob, readRepository } from './job.ts';
import { readLinks, rulesOf } from './policy-check.ts';

/** Most comments at lines in a review; the other findings are in its body. */
const MAX_COMMENTS = 30;

type AnswerMade = Omit<NonNullable<Publication['answer']>, 'as' | 'findings'>;

/** Publishes the answer as `--publish-as` says. Throws `GitHubRefused`. */
export async function publishAnswer(job: PublishJob): Promise<RunOutcome> {
  const { result, settings, publication, sayMade } = job;
  publication.branch = null;
  const { outcome, exitCode, reason, errorCode, answer } = result;
  if (answer === null)
    return outcome !== null && exitCode !== null && exitCode !== 0
      ? { name: outcome, exitCode, reason: `The run has no answer: ${reason}`, errorCode }
      : usageError('ERR_NOTHING_TO_PUBLISH', 'The run has no answer. Run it with --output-schema findings.');
  const parsed = FindingsReport.safeParse(answer);
  const [issue] = parsed.error?.issues ?? [];
  if (!parsed.success)
    return usageError(
      'ERR_NOT_FINDINGS',
      `The answer of the run is not one of --output-schema findings (${issue?.path.join('.')}: ${issue?.message}).`,
    );
  const { publishAs: as } = settings;
  if (result.baseDirty !== false && as !== 'sarif')
    return usageError(
      'ERR_BASE_DIRTY',
      'The run began with uncommitted changes, so that its lines are not those of a commit. Commit them, and run it again.',
    );
  const pull = as === 'sarif' ? null : await pullOf(job);
  if (typeof pull === 'object' && pull !== null) return pull;
  const findings = bySeverity(parsed.data.findings);
  const title = settings.title ?? 'patchsmith';
  const make = as === 'sarif' ? writeSarif : as === 'check' ? checkOf : reviewOf;
  const made = await make(job, findings, { title, pull });
  if ('name' in made) return made;
  if (as !== 'pull-request') publication.answer = { as, findings: findings.length, ...made };
  const where = made.file ?? made.url ?? '';
  sayMade(`${as} ${made.operation}: ${where}`);
  return done(`The ${as} has ${countReported(findings)}, ${made.atLines} at their lines.`);
}

/** What the findings are of, besides a commit. */
interface Subject {
  readonly title: string;
  /** Number of the pull request; null for none. */
  readonly pull: number | null;
}

/** The pull request that they are about, which has to be at the commit that the run looked at: others have other lines. */
async function pullOf({ upstream, askedIn, result }: PublishJob): Promise<RunOutcome | number | null> {
  if (result.baseSha === null) return usageError('ERR_NOTHING_TO_PUBLISH', 'The run looked at no commit.');
  if (askedIn?.isHere !== true) return null;
  const { number } = askedIn;
  const pull = await readPull(upstream, number);
  if (pull === null) return null;
  if (pull.head.sha === result.baseSha && pull.state === 'open') return number;
  return publishFailed(
    'ERR_PULL_REQUEST_MOVED',
    `Pull request #${number} is ${pull.state}, at ${pull.head.sha.slice(0, 8)}, and the run looked at ${result.baseSha.slice(0, 8)}. Run it again on the head of the open pull request: a workflow checks that out with the input ref, github.event.pull_request.head.sha.`,
  );
}

async function writeSarif(
  { run, settings, publication }: PublishJob,
  findings: ReportedFinding[],
  { title }: Subject,
): Promise<RunOutcome | AnswerMade> {
  const file = join(run.directory.path, 'findings.sarif');
  const sarif = sarifOf({ findings, version: publication.patchsmith, title });
  const why = settings.dryRun ? null : writeDocument(file, `${JSON.stringify(sarif, null, 2)}\n`);
  if (why !== null) return usageError('ERR_REPORT_UNWRITTEN', why);
  return { url: null, file, operation: 'created', atLines: sarif.runs[0]?.results.length ?? 0 };
}

async function checkOf(
  { upstream, result, runUrl }: PublishJob,
  findings: ReportedFinding[],
  { title }: Subject,
): Promise<AnswerMade> {
  const annotations = findings.flatMap((finding) => checkAnnotation(finding) ?? []);
  const rest = findings.filter((finding) => checkAnnotation(finding) === null);
  const [worst] = findings;
  const made = await putCheckRun(upstream, {
    name: title,
    sha: result.baseSha ?? '',
    conclusion: worst === undefined ? 'success' : worst.severity === 'error' ? 'failure' : 'neutral',
    title: countReported(findings),
    summary: reportBody({ result, all: findings, rest, title, runUrl }),
    annotations,
    digest: sha256Of(JSON.stringify(findings)),
  });
  return { ...made, file: null, atLines: annotations.length };
}

async function reviewOf(
  job: PublishJob,
  findings: ReportedFinding[],
  { title, pull }: Subject,
): Promise<RunOutcome | AnswerMade> {
  const { upstream, result, runUrl } = job;
  if (pull === null)
    return usageError('ERR_NO_PULL_REQUEST', 'Name the pull request to review with --issue N.');
  const files = await diffOf(upstream, pull);
  const shown = new Map(files.map(({ filename, patch }) => [filename, shownLines(patch ?? '')]));
  const marker = `<!-- patchsmith-findings:${sha256Of(title).slice(0, 8)} -->`;
  const isAtLines = (finding: ReportedFinding) => {
    const { start = 0, end = 0 } = reportedLines(finding) ?? {};
    return shown.get(finding.path)?.some((part) => start >= part.start && end <= part.end) === true;
  };
  const atLines = findings.filter(isAtLines).slice(0, MAX_COMMENTS);
  const rest = findings.filter((finding) => !atLines.includes(finding));
  const shownOnly = await protectedAmong(job, atLines);
  const made = await putReview(upstream, {
    pull,
    head: result.baseSha ?? '',
    marker,
    body: `${reportBody({ result, all: findings, rest, title, runUrl })}\n\n${marker}`,
    comments: atLines.flatMap((finding) => {
      const lines = reportedLines(finding);
      return lines === null
        ? []
        : [{ ...lines, path: finding.path, body: findingComment(finding, marker, shownOnly.has(finding)) }];
    }),
    isEmpty: findings.length === 0,
  });
  return made === null
    ? noChange(`The run has no findings, and pull request #${pull} needs no review.`)
    : { ...made, file: null, atLines: atLines.length };
}

/** Those about files that are protected, by one of their names; all, where GitHub does not show the links of the tree. */
async function protectedAmong(job: PublishJob, findings: ReportedFinding[]): Promise<Set<ReportedFinding>> {
  const rules = rulesOf(job);
  const suggesting = findings.filter(({ suggestion }) => suggestion !== null);
  if (suggesting.length === 0 || rules.mode === 'allow') return new Set();
  const sha = job.result.baseSha ?? '';
  const read = await answerOf(
    (async () => {
      const { full_name } = await readRepository(job.upstream);
      const clone = cloneFor({ ...job, fork: job.upstream }, full_name);
      if (!(await clone.fetch([sha]))) return null;
      const { tree } = await clone.commit(sha);
      return readLinks(clone, tree);
    })(),
  );
  const links = read.status === 'ok' ? read.data : null;
  const isProtected = ({ path }: ReportedFinding) => {
    const others = links?.namesOf([path]) ?? null;
    return others === null || [path, ...others].some((name) => consequenceOf(name, rules) !== null);
  };
  return new Set(suggesting.filter(isProtected));
}
