/** Checks of commits, and the logs of the jobs behind them. */

import { type Answer, type Call, type Handler, page } from '../call.ts';
import { notFound } from '../refusal.ts';

export const checks: Readonly<Record<string, Handler>> = {
  'checks/list-for-ref': list,
  'actions/download-job-logs-for-workflow-run': (call) => {
    const job = call.world.checks.find(({ id }) => id === Number(call.params.job_id));
    if (job === undefined) throw notFound();
    // Logs are elsewhere, and whoever has the address may read them for a minute.
    const location = `${call.world.apiUrl.replace('127.0.0.1', 'localhost')}/_logs/${job.id}`;
    return { status: 302, headers: { location } };
  },
};

function list(call: Call): Answer {
  const { world, params } = call;
  const found = world.checks.filter(({ sha }) => sha === params.ref);
  const now = world.now();
  const runs = found.map(({ id, name, conclusion, summary, sha }) => ({
    id,
    name,
    head_sha: sha,
    status: 'completed',
    conclusion,
    started_at: now,
    completed_at: now,
    app: { id: 15_368, slug: 'github-actions', name: 'GitHub Actions' },
    output: { title: null, summary, text: null, annotations_count: 0, annotations_url: world.apiUrl },
  }));
  const { body, ...answer } = page(call, runs);
  return { ...answer, body: { total_count: runs.length, check_runs: body } };
}
