/** Check runs: one of our own with annotations, and those of a commit that failed. */

import * as z from 'zod';
import { answerOf, findElseMake, type OnGitHub } from './request.ts';

/** What the check run should say. */
export interface CheckWanted {
  readonly name: string;
  readonly sha: string;
  readonly conclusion: 'success' | 'neutral' | 'failure';
  readonly title: string;
  readonly summary: string;
  readonly annotations: readonly object[];
  /** Stands for all of it. */
  readonly digest: string;
}

/** GitHub takes no more with one request. */
const PAGE = 50;

const OwnCheck = z.object({
  id: z.int(),
  external_id: z.string().nullish(),
  html_url: z.string().nullish(),
  status: z.string(),
  output: z.object({ annotations_count: z.int() }),
});

/** A publication that was cut off is continued: what is there is counted. */
export async function putCheckRun(
  where: OnGitHub,
  wanted: CheckWanted,
): Promise<{ url: string; operation: 'created' | 'updated' | 'none' }> {
  const { name, sha, title, summary, annotations, digest } = wanted;
  const ofName = { ref: sha, check_name: name, filter: 'all' };
  const end = { status: 'completed', conclusion: wanted.conclusion };
  const page = (from: number) => ({
    ...(from + PAGE < annotations.length ? { status: 'in_progress' } : end),
    output: { title, summary, annotations: annotations.slice(from, from + PAGE) },
  });
  const output = { annotations_count: annotations.length };
  const planned: z.infer<typeof OwnCheck> = { id: 0, status: 'completed', output };
  const { thing: run, isNew } = await findElseMake(
    async () => {
      const all = await where.list('/commits/{ref}/check-runs', OwnCheck, ofName);
      // GitHub shows the newest.
      const [newest] = all.toSorted((a, b) => b.id - a.id);
      return newest?.external_id === digest ? newest : null;
    },
    () =>
      where.write(
        'POST /check-runs',
        { name, head_sha: sha, external_id: digest, ...page(0) },
        { schema: OwnCheck, planned },
      ),
  );
  const url = run.html_url ?? '';
  if (!isNew && run.status === 'completed') return { url, operation: 'none' };
  for (let from = run.output.annotations_count; from < annotations.length; from += PAGE)
    // Annotations are added to those that are there.
    await where.write(
      'PATCH /check-runs/{check_run_id}',
      { check_run_id: run.id, ...page(from) },
      { isRepeatable: false },
    );
  return { url, operation: isNew ? 'created' : 'updated' };
}

/** A check that did not pass. `log` is as printed; empty if the check has no log, or the token may not read it. */
export interface FailedCheck {
  readonly name: string;
  readonly conclusion: string;
  /** The check's own summary. */
  readonly summary: string;
  readonly log: string;
}

const CheckRun = z.object({
  id: z.int(),
  name: z.string(),
  conclusion: z.string().nullable(),
  app: z.object({ slug: z.string().optional() }).nullable(),
  output: z.object({ title: z.string().nullable(), summary: z.string().nullable() }),
});

const FAILED: readonly (string | null)[] = ['failure', 'timed_out'];

/** Most checks whose logs are fetched. */
const MAX_CHECKS = 5;

async function listFailed(where: OnGitHub, sha: string) {
  const runs = await where.list('/commits/{ref}/check-runs', CheckRun, { ref: sha });
  return runs.filter(({ conclusion }) => FAILED.includes(conclusion));
}

/** Whether there may be such a check: also if the token lacks `checks: read`, which the run needs and this question does not. */
export async function mayHaveFailedChecks(where: OnGitHub, sha: string): Promise<boolean> {
  const failed = await answerOf(listFailed(where, sha));
  return failed.status === 'refused' || failed.data.length > 0;
}

/** The latest runs of each check, at most 5 of those that failed. Needs `checks: read`, and `actions: read` for logs. */
export async function readFailedChecks(where: OnGitHub, sha: string): Promise<FailedCheck[]> {
  const failed = await listFailed(where, sha);
  const checks: FailedCheck[] = [];
  for (const { id, name, conclusion, app, output } of failed.slice(0, MAX_CHECKS)) {
    // GitHub answers with an address elsewhere, to which the token does not go.
    const log =
      app?.slug === 'github-actions'
        ? await answerOf(where.get('/actions/jobs/{job_id}/logs', z.string(), { job_id: id }))
        : null;
    checks.push({
      name,
      conclusion: conclusion ?? '',
      summary: [output.title, output.summary].filter((text) => text !== null).join('\n'),
      log: log?.status === 'ok' ? log.data : '',
    });
  }
  return checks;
}
