/** A check run of a commit with annotations: the same findings are published once, others make a new run. */

import * as z from 'zod';
import { findElseMake, type OnGitHub } from './request.ts';

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

const CheckRun = z.object({
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
  const planned: z.infer<typeof CheckRun> = { id: 0, status: 'completed', output };
  const { thing: run, isNew } = await findElseMake(
    async () => {
      const all = await where.list('/commits/{ref}/check-runs', CheckRun, ofName);
      // GitHub shows the newest.
      const [newest] = all.toSorted((a, b) => b.id - a.id);
      return newest?.external_id === digest ? newest : null;
    },
    () =>
      where.write(
        'POST /check-runs',
        { name, head_sha: sha, external_id: digest, ...page(0) },
        { schema: CheckRun, planned },
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
