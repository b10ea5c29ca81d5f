/**
 * Runs a workflow file as GitHub does, as far as the templates go: conditions, job tokens with the permissions that the
 * job names, checkout, artifacts, and the built action.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { parse } from 'yaml';
import { temporaryFolder } from '../files/repository.ts';
import type { GitHub, GitHubRepository } from '../github-server/server.ts';
import type { Access } from '../github-server/state/world.ts';
import { type ActionEnd, type ActionRun, runAction } from './action-runner.ts';
import { type Contexts, filled, isDue, listIn } from './expressions.ts';

interface WorkflowStep {
  readonly name?: string;
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly 'continue-on-error'?: boolean;
  readonly with?: Readonly<Record<string, string | boolean | number>>;
}

interface WorkflowJob {
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, Access>>;
  readonly outputs?: Readonly<Record<string, string>>;
  /** Each a list, or an expression that gives one. */
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[] | string>> };
  readonly steps: readonly WorkflowStep[];
}

interface Workflow {
  readonly jobs: Readonly<Record<string, WorkflowJob>>;
}

export interface WorkflowRun {
  /** The file. */
  readonly workflow: string;
  readonly github: GitHub;
  readonly repository: GitHubRepository;
  readonly event: { readonly name: string; readonly payload: Readonly<Record<string, unknown>> };
  readonly actor: string;
  readonly secrets: Readonly<Record<string, string>>;
  /** Variables of every job. */
  readonly env?: Readonly<Record<string, string>>;
  /** The built action in processes of its own. */
  readonly built?: boolean;
  /** Cancels the workflow while the plan is carried out. */
  readonly cancel?: NonNullable<ActionRun['during']>;
  /** Called with the running step of the action in this mode, to kill it. */
  readonly kill?: { readonly mode: string; readonly at: NonNullable<ActionRun['during']> };
  /** How it ended before: only what failed there runs, and what needs that, as "Re-run failed jobs" does. */
  readonly before?: readonly JobEnd[];
  /** What the step's own time limit does to it while the plan is carried out: it fails, and the job goes on. */
  readonly timeLimit?: NonNullable<ActionRun['during']>;
}

export interface JobEnd {
  readonly name: string;
  readonly matrix: Readonly<Record<string, string>>;
  /** Where the workflow run keeps its artifacts. */
  readonly artifacts: string;
  readonly result: 'success' | 'failure' | 'cancelled' | 'skipped';
  /** What the action did in this job, in order. */
  readonly actions: readonly ActionEnd[];
  /** The token that the job had. */
  readonly token: string;
  readonly outputs: Readonly<Record<string, string>>;
}

/** The jobs in the order of the file, which is the order of their needs. */
export async function runWorkflow(run: WorkflowRun): Promise<JobEnd[]> {
  const { jobs } = parse(readFileSync(run.workflow, 'utf8')) as Workflow;
  const artifacts = run.before?.[0]?.artifacts ?? temporaryFolder();
  const again = new Set<string>();
  const ends: JobEnd[] = [];
  const needs: Record<string, JobEnd> = {};
  for (const [name, job] of Object.entries(jobs)) {
    for (const [index, matrix] of combinations(job, needs).entries()) {
      const earlier = run.before?.find(
        (end) => end.name === name && JSON.stringify(end.matrix) === JSON.stringify(matrix),
      );
      const needsAgain = [job.needs ?? []].flat().some((needed) => again.has(needed));
      const isKept = earlier?.result === 'success' && !needsAgain;
      if (!isKept) again.add(name);
      const end = isKept ? earlier : await runJob(run, { name, job, matrix, index, artifacts, needs });
      ends.push(end);
      // Of a matrix, one that fails makes the whole job one that has failed.
      needs[name] = needs[name]?.result === 'failure' ? { ...end, result: 'failure' } : end;
    }
  }
  return ends;
}

/** A job whose condition does not hold is skipped before its matrix is looked at. */
function combinations(
  { strategy, if: condition, needs: needed }: WorkflowJob,
  needs: Readonly<Record<string, JobEnd>>,
): Record<string, string>[] {
  const failed = [needed ?? []].flat().some((name) => needs[name]?.result !== 'success');
  const contexts = { values: { needs }, failed, cancelled: false };
  const listOf = (given: readonly string[] | string): readonly unknown[] =>
    typeof given === 'string' ? listIn(given, contexts) : given;
  const matrix = Object.entries(strategy?.matrix ?? {});
  if (matrix.some(([, given]) => typeof given === 'string') && !isDue(condition, contexts)) return [{}];
  return matrix.reduce<Record<string, string>[]>(
    (all, [key, given]) =>
      all.flatMap((one) => listOf(given).map((value) => ({ ...one, [key]: String(value) }))),
    [{}],
  );
}

interface JobPlace {
  readonly name: string;
  readonly job: WorkflowJob;
  readonly matrix: Readonly<Record<string, string>>;
  /** Which of the matrix it is. */
  readonly index: number;
  readonly artifacts: string;
  readonly needs: Readonly<Record<string, JobEnd>>;
}

async function runJob(run: WorkflowRun, place: JobPlace): Promise<JobEnd> {
  const { name, job, matrix, index, artifacts, needs } = place;
  const { github, repository, event } = run;
  const granted = Object.entries(job.permissions ?? {}).map(([key, access]) => [
    key.replaceAll('-', '_'),
    access,
  ]);
  const token = github.addToken({ kind: 'installation', permissions: Object.fromEntries(granted) });
  const sha = (await repository.head(repository.settings.defaultBranch)) ?? '';
  const steps: Record<string, { outputs: Record<string, string>; outcome: string }> = {};
  const temp = temporaryFolder();
  const workspace = temporaryFolder();
  const values = {
    github: {
      event: event.payload,
      event_name: event.name,
      repository: repository.fullName,
      ref: `refs/heads/${repository.settings.defaultBranch}`,
      token,
      sha,
    },
    inputs: (event.payload.inputs as object | undefined) ?? {},
    runner: { temp },
    secrets: run.secrets,
    vars: {},
    needs,
    matrix,
    strategy: { 'job-index': index },
    steps,
  };
  const actions: ActionEnd[] = [];
  let failed = Object.entries(needs).some(
    ([key, { result }]) => [job.needs ?? []].flat().includes(key) && result !== 'success',
  );
  let cancelled = Object.values(needs).some(({ result }) => result === 'cancelled');
  const contexts = (): Contexts => ({ values, failed, cancelled });
  if (!isDue(job.if, contexts()))
    return { name, matrix, artifacts, result: 'skipped', actions, token, outputs: {} };

  failed = false;
  // A job that always runs does so after a cancel as well, with all of its steps.
  cancelled = false;
  const stepPlace = { workspace, temp, sha, token, artifacts };
  for (const step of job.steps) {
    if (!isDue(step.if, contexts())) continue;
    const given = Object.fromEntries(
      Object.entries(step.with ?? {}).map(([key, value]) => [key, filled(String(value), contexts())]),
    );
    if (step.run !== undefined) {
      const own = Object.entries(step.env ?? {}).map(([key, value]) => [key, filled(value, contexts())]);
      const env = {
        GITHUB_STEP_SUMMARY: join(temp, 'summary'),
        RUNNER_TEMP: temp,
        ...Object.fromEntries(own),
      };
      execFileSync('bash', ['-e', '-c', step.run], {
        cwd: workspace,
        env: { PATH: process.env.PATH, HOME: temp, ...run.env, ...env },
      });
      continue;
    }
    const end = await runStep(run, step, given, stepPlace);
    if (end.action !== null) actions.push(end.action);
    if (end.action !== null && run.cancel !== undefined && given.mode === undefined) cancelled = true;
    const outcome = end.failed ? 'failure' : 'success';
    if (step.id !== undefined) steps[step.id] = { outputs: end.outputs, outcome };
    failed ||= end.failed && step['continue-on-error'] !== true;
  }
  const outputs = Object.entries(job.outputs ?? {}).map(([key, text]) => [key, filled(text, contexts())]);
  const result = cancelled ? 'cancelled' : failed ? 'failure' : 'success';
  return { name, matrix, artifacts, result, actions, token, outputs: Object.fromEntries(outputs) };
}

interface StepPlace {
  readonly workspace: string;
  readonly temp: string;
  readonly sha: string;
  readonly token: string;
  readonly artifacts: string;
}

interface StepResult {
  readonly failed: boolean;
  readonly outputs: Record<string, string>;
  readonly action: ActionEnd | null;
}

async function runStep(
  run: WorkflowRun,
  { uses = '', name }: WorkflowStep,
  given: Record<string, string>,
  place: StepPlace,
): Promise<StepResult> {
  const done = (outputs: Record<string, string> = {}, failed = false) => ({ failed, outputs, action: null });
  const [action = ''] = uses.split('@');
  switch (action) {
    case 'actions/checkout':
      await checkOut(run, given, place);
      return done();
    case 'actions/upload-artifact': {
      const found = (given.path ?? '').split('\n').filter((path) => path !== '' && existsSync(path));
      for (const path of found) {
        mkdirSync(join(place.artifacts, given.name ?? ''), { recursive: true });
        cpSync(path, join(place.artifacts, given.name ?? '', basename(path)));
      }
      const url = 'https://github.com/octo/shop/actions/runs/1/artifacts/1';
      const isMissing = found.length === 0 && given['if-no-files-found'] !== 'ignore';
      return done(found.length > 0 ? { 'artifact-id': '1', 'artifact-url': url } : {}, isMissing);
    }
    case 'actions/download-artifact': {
      const from = join(place.artifacts, given.name ?? '');
      if (!existsSync(from)) return done({}, true);
      cpSync(from, given.path ?? '', { recursive: true });
      return done();
    }
    case 'actions/create-github-app-token': {
      const wanted = Object.entries(given).flatMap(([key, access]) =>
        key.startsWith('permission-') ? [[key.slice('permission-'.length).replaceAll('-', '_'), access]] : [],
      );
      const permissions = Object.fromEntries(wanted);
      const token = run.github.addToken({ kind: 'installation', login: 'shop-app[bot]', permissions });
      return done({ token });
    }
    case 'actions/setup-node':
      // It prints the versions of these, which start in the workspace.
      for (const tool of ['node', 'npm', 'yarn'])
        await execa(tool, ['--version'], { cwd: place.workspace, env: run.env ?? {}, reject: false });
      return done();
    case 'OWNER/patchsmith': {
      const ended = await runPatchsmith(run, given, place);
      return { failed: ended.exitCode !== 0, outputs: ended.outputs, action: ended };
    }
  }
  throw new Error(`This step is not known here: ${name ?? uses}`);
}

/** As actions/checkout does: the branch of the event, or the commit that is asked for. */
async function checkOut(
  { github, repository }: WorkflowRun,
  given: Record<string, string>,
  place: StepPlace,
): Promise<void> {
  if (given['persist-credentials'] !== 'false') throw new Error('The checkout leaves its credentials behind');
  const url = `${github.serverUrl}/${repository.fullName}.git`;
  const basic = Buffer.from(`x-access-token:${place.token}`).toString('base64');
  const header = ['-c', `http.extraHeader=Authorization: Basic ${basic}`];
  const git = (...args: string[]) => execa('git', args, { cwd: place.workspace });
  const depth = given['fetch-depth'] === '0' ? [] : ['--depth=1'];
  await git('init', '--quiet');
  await git('remote', 'add', 'origin', url);
  const wanted = given.ref || repository.settings.defaultBranch;
  // A commit, or the ref of a pull request, is checked out without a branch.
  const isCommit = /^[0-9a-f]{40}$|^refs\//.test(wanted);
  const refspec = isCommit
    ? [`+${wanted}:refs/remotes/wanted`, '+refs/heads/*:refs/remotes/origin/*']
    : [`+refs/heads/${wanted}:refs/remotes/origin/${wanted}`];
  await git(...header, 'fetch', '--quiet', ...depth, 'origin', ...refspec);
  if (isCommit) await git('checkout', '--quiet', '--detach', 'refs/remotes/wanted');
  else await git('checkout', '--quiet', '-B', wanted, `refs/remotes/origin/${wanted}`);
}

function runPatchsmith(
  run: WorkflowRun,
  inputs: Record<string, string>,
  place: StepPlace,
): Promise<ActionEnd> {
  const { github, repository, event, actor, env = {} } = run;
  const { settings, fullName } = repository;
  const during = inputs.mode === undefined ? (run.cancel ?? run.timeLimit) : undefined;
  return runAction({
    workspace: place.workspace,
    token: place.token,
    inputs,
    event: event.payload,
    ...(run.built === true ? { built: true } : {}),
    ...(during === undefined ? {} : { during }),
    ...(run.kill?.mode === (inputs.mode ?? 'run') ? { during: run.kill.at } : {}),
    env: {
      RUNNER_TEMP: place.temp,
      GITHUB_API_URL: github.url,
      GITHUB_SERVER_URL: github.serverUrl,
      GITHUB_REPOSITORY: fullName,
      GITHUB_REPOSITORY_OWNER: fullName.split('/')[0] ?? '',
      GITHUB_EVENT_NAME: event.name,
      GITHUB_SHA: place.sha,
      GITHUB_REF: `refs/heads/${settings.defaultBranch}`,
      GITHUB_REF_NAME: settings.defaultBranch,
      GITHUB_ACTOR: actor,
      GITHUB_TRIGGERING_ACTOR: actor,
      GITHUB_RUN_ID: '4711',
      GITHUB_RUN_ATTEMPT: '1',
      ...env,
    },
  });
}
