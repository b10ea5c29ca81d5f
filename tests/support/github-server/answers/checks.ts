/** Checks of commits, and the logs of the jobs behind them. */

import { type Answer, type Call, type Handler, page } from '../call.ts';
import { notFound, Refusal, unprocessable } from '../refusal.ts';
import type { Check, World } from '../state/world.ts';

export const checks: Readonly<Record<string, Handler>> = {
  'checks/list-for-ref': list,
  'checks/create': create,
  'checks/update': update,
  'actions/download-job-logs-for-workflow-run': (call) => {
    const job = call.world.checks.find(({ id }) => id === Number(call.params.job_id));
    if (job === undefined) throw notFound();
    // Logs are elsewhere, and whoever has the address may read them for a minute.
    const location = `${call.world.apiUrl.replace('127.0.0.1', 'localhost')}/_logs/${job.id}`;
    return { status: 302, headers: { location } };
  },
};

function list(call: Call): Answer {
  const { world, params, query } = call;
  const name = query.get('check_name');
  const all = world.checks.filter((one) => one.sha === params.ref && (name === null || one.name === name));
  // Of several with the same name, the newest, unless all are asked for.
  const isLast = (one: Check) => all.findLast((other) => other.name === one.name) === one;
  const runs = all
    .filter((one) => query.get('filter') === 'all' || isLast(one))
    .map((one) => shown(world, one));
  const { body, ...answer } = page(call, runs);
  return { ...answer, body: { total_count: runs.length, check_runs: body } };
}

function shown(world: World, { id, name, conclusion, summary, sha, title, ...more }: Check) {
  const now = world.now();
  const output = {
    title: title ?? null,
    summary,
    text: null,
    annotations_count: more.annotations?.length ?? 0,
    annotations_url: world.apiUrl,
  };
  return {
    id,
    name,
    head_sha: sha,
    external_id: more.externalId ?? null,
    html_url: `${world.serverUrl}/runs/${id}`,
    status: conclusion === null ? 'in_progress' : 'completed',
    conclusion,
    started_at: now,
    completed_at: conclusion === null ? null : now,
    app: { id: 15_368, slug: 'github-actions', name: 'GitHub Actions' },
    output,
  };
}

interface Output {
  readonly title?: string;
  readonly summary?: string;
  readonly annotations?: readonly { start_line: number; end_line: number }[];
}

async function create(call: Call): Promise<Answer> {
  const { world, token, body } = call;
  if (token?.kind !== 'installation') throw new Refusal(403, 'You must authenticate via a GitHub App.');
  const sha = String(body.head_sha);
  if (!(await call.repository().store.holds('cat-file', '-e', `${sha}^{commit}`)))
    throw unprocessable(`No commit found for SHA: ${sha}`);
  const made: Check = {
    id: world.nextId(),
    sha,
    name: String(body.name),
    conclusion: null,
    log: '',
    summary: null,
    by: token.account,
    externalId: String(body.external_id ?? ''),
    annotations: [],
  };
  apply(made, body);
  world.checks.push(made);
  return { status: 201, body: shown(world, made) };
}

function update(call: Call): Answer {
  const check = call.world.checks.find(({ id }) => id === Number(call.params.check_run_id));
  if (check === undefined) throw notFound();
  if (check.by?.id !== call.token?.account.id)
    throw new Refusal(403, 'Invalid app_id: not the app of the check run');
  apply(check, call.body);
  return { status: 200, body: shown(call.world, check) };
}

/** Annotations are added to those that are there. */
function apply(check: Check, { status, conclusion, output }: Call['body']): void {
  const { title, summary, annotations = [] } = (output ?? {}) as Output;
  if (status === 'completed' && conclusion === undefined)
    throw unprocessable('Invalid request.\n\nFor \'completed\', "conclusion" is required.');
  for (const { start_line, end_line } of annotations)
    if (start_line < 1 || end_line < start_line)
      throw unprocessable('Invalid request: annotations have no such lines.');
  check.annotations?.push(...annotations);
  if (title !== undefined) check.title = title;
  if (summary !== undefined) check.summary = summary;
  if (conclusion !== undefined) check.conclusion = String(conclusion);
}
