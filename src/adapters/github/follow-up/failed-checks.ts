/** Failed checks of a commit, with the end of their logs where GitHub Actions ran them. */

import * as z from 'zod';
import { answerOf, type OnGitHub } from '../request.ts';

/** A check that did not pass. `log` is as printed; empty if there is none or it may not be read. */
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
