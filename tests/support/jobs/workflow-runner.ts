/**
 * Runs a workflow file as GitHub does, as far as the templates go: conditions, job tokens with the permissions that the
 * job names, checkout, artifacts, and the built action.
 */

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../files/repository.ts';
import type { GitHub, GitHubRepository } from '../github-server/server.ts';
import { type ActionEnd, type ActionRun, valuesIn } from './action-runner.ts';
import { type Contexts, evaluated, filled, isDue } from './expressions.ts';
import { called, type Permissions, readWorkflow, type Workflow, type WorkflowJob } from './workflow-file.ts';
import { isOfModel, runStep } from './workflow-steps.ts';

/** The workflow of this repository that others call. */
export const CALLED = new URL('../../../.github/workflows/patchsmith.yml', import.meta.url).pathname;

export interface WorkflowRun {
  /** The file. */
  readonly workflow: string;
  /** The file that it calls. */
  readonly called?: string;
  readonly github: GitHub;
  readonly repository: GitHubRepository;
  readonly event: { readonly name: string; readonly payload: Readonly<Record<string, unknown>> };
  readonly actor: string;
  readonly secrets: Readonly<Record<string, string>>;
  /** Secrets of environments, by their names. */
  readonly environments?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly vars?: Readonly<Record<string, string>>;
  /** Variables of every job. */
  readonly env?: Readonly<Record<string, string>>;
  /** On an Enterprise Server, whose artifacts only old actions can handle; elsewhere these are refused. */
  readonly isEnterprise?: boolean;
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
  /** The job that called its workflow; empty for none. */
  readonly caller: string;
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

/** What the jobs of one file have in common. */
interface Scope {
  readonly caller: string;
  readonly granted: Permissions;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly artifacts: string;
  readonly sha: string;
}

/** The jobs in the order of the file, which is the order of their needs; in place of one that calls a workflow, that one's. */
export async function runWorkflow(run: WorkflowRun): Promise<JobEnd[]> {
  const workflow = readWorkflow(run.workflow);
  const { repository, event, before, secrets } = run;
  const artifacts = before?.[0]?.artifacts ?? temporaryFolder();
  const sha = (await repository.head(repository.settings.defaultBranch)) ?? '';
  const inputs = (event.payload.inputs as Record<string, unknown> | undefined) ?? {};
  return runJobs(run, workflow, {
    ...{ caller: '', granted: workflow.permissions ?? {}, inputs, secrets, artifacts, sha },
  });
}

async function runJobs(run: WorkflowRun, { jobs }: Workflow, scope: Scope): Promise<JobEnd[]> {
  const again = new Set<string>();
  const ends: JobEnd[] = [];
  const needs: Record<string, JobEnd> = {};
  for (const [name, job] of Object.entries(jobs)) {
    const values = { ...valuesOf(run, scope), needs };
    const place = { scope, name, job, needs, values };
    if (job.uses !== undefined) {
      const [end, inner] = await runCalled(run, place);
      needs[name] = end;
      ends.push(...inner);
      continue;
    }
    for (const [index, matrix] of combinations(place).entries()) {
      const earlier = run.before?.find(
        (end) =>
          end.caller === scope.caller &&
          end.name === name &&
          JSON.stringify(end.matrix) === JSON.stringify(matrix),
      );
      const needsAgain = [job.needs ?? []].flat().some((needed) => again.has(needed));
      const isKept = earlier?.result === 'success' && !needsAgain;
      if (!isKept) again.add(name);
      const end = isKept ? earlier : await runJob(run, { ...place, matrix, index });
      ends.push(end);
      // Of a matrix, one that fails makes the whole job one that has failed.
      needs[name] = needs[name]?.result === 'failure' ? { ...end, result: 'failure' } : end;
    }
  }
  return ends;
}

interface NamedJob {
  readonly scope: Scope;
  readonly name: string;
  readonly job: WorkflowJob;
  readonly needs: Readonly<Record<string, JobEnd>>;
  /** What names stand for outside of steps. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** How the job that calls has ended, and the jobs of the workflow that it has called. */
async function runCalled(run: WorkflowRun, place: NamedJob): Promise<[JobEnd, JobEnd[]]> {
  const { scope, name, job, values } = place;
  if (!/^[\w.-]+\/[\w.-]+\/\.github\/workflows\/patchsmith\.yml@/.test(job.uses ?? ''))
    throw new Error(`This workflow is not known here: ${job.uses}`);
  const workflow = readWorkflow(run.called ?? CALLED);
  const granted = job.permissions ?? scope.granted;
  const contexts = { ...statusOf(place), values };
  // A call that is refused fails the file, also where its condition does not hold.
  const { inputs, secrets } = called(job, workflow, granted, contexts);
  const end = (result: JobEnd['result']): JobEnd => ({
    ...{ name, caller: scope.caller, matrix: {}, artifacts: scope.artifacts, result },
    ...{ actions: [], token: '', outputs: {} },
  });
  if (!isDue(job.if, contexts)) return [end('skipped'), []];
  const inner = await runJobs(run, workflow, { ...scope, caller: name, granted, inputs, secrets });
  const results = ['failure', 'cancelled', 'success'] as const;
  return [end(results.find((one) => inner.some(({ result }) => result === one)) ?? 'skipped'), inner];
}

function valuesOf({ event, repository, vars = {} }: WorkflowRun, { inputs, secrets, sha }: Scope) {
  return {
    github: {
      event: event.payload,
      event_name: event.name,
      repository: repository.fullName,
      ref: `refs/heads/${repository.settings.defaultBranch}`,
      sha,
    },
    inputs,
    secrets,
    vars,
  };
}

/** What came of the jobs that this one needs. */
function statusOf({ job, needs }: NamedJob): Pick<Contexts, 'failed' | 'cancelled'> {
  const needed = [job.needs ?? []].flat().map((name) => needs[name]?.result);
  return {
    failed: needed.some((result) => result !== 'success'),
    cancelled: Object.values(needs).some(({ result }) => result === 'cancelled'),
  };
}

/** A job whose condition does not hold is skipped before its matrix is looked at. */
function combinations(place: NamedJob): Record<string, string>[] {
  const { job, values } = place;
  const contexts = { ...statusOf(place), values };
  const listOf = (given: readonly string[] | string): readonly unknown[] => {
    const list = typeof given === 'string' ? evaluated(given, contexts) : given;
    if (!Array.isArray(list)) throw new Error(`This is no list: ${given}`);
    return list;
  };
  const matrix = Object.entries(job.strategy?.matrix ?? {});
  if (matrix.some(([, given]) => typeof given === 'string') && !isDue(job.if, contexts)) return [{}];
  return matrix.reduce<Record<string, string>[]>(
    (all, [key, given]) =>
      all.flatMap((one) => listOf(given).map((value) => ({ ...one, [key]: String(value) }))),
    [{}],
  );
}

interface JobPlace extends NamedJob {
  readonly matrix: Readonly<Record<string, string>>;
  /** Which of the matrix it is. */
  readonly index: number;
}

async function runJob(run: WorkflowRun, place: JobPlace): Promise<JobEnd> {
  const { name, job, matrix, index, scope } = place;
  const { artifacts, caller } = scope;
  const granted = Object.entries(job.permissions ?? scope.granted).map(([key, access]) => [
    key.replaceAll('-', '_'),
    access,
  ]);
  const token = run.github.addToken({ kind: 'installation', permissions: Object.fromEntries(granted) });
  const steps: Record<string, { outputs: Record<string, string>; outcome: string }> = {};
  const temp = temporaryFolder();
  const workspace = temporaryFolder();
  const outer = {
    ...place.values,
    matrix,
    strategy: { 'job-index': index, 'job-total': combinations(place).length },
  };
  const actions: ActionEnd[] = [];
  const { failed: hasFailed, cancelled: wasCancelled } = statusOf(place);
  const before = { values: outer, failed: hasFailed, cancelled: wasCancelled };
  const ended = { name, caller, matrix, artifacts, actions, token };
  if (!isDue(job.if, before)) return { ...ended, result: 'skipped', outputs: {} };

  for (const text of [job.name, job['runs-on'], job.concurrency?.group])
    if (typeof text === 'string') evaluated(text, before);
  const isContained = filled(job.container ?? '', before) !== '';
  const environment = filled(job.environment ?? '', before);
  const ofEnvironment = environment === '' ? {} : run.environments?.[environment];
  if (ofEnvironment === undefined) throw new Error(`There is no environment ${environment}`);
  const values = {
    ...outer,
    github: { ...(outer as unknown as { github: object }).github, token },
    // In a container, it is the name of the folder on the machine.
    runner: { temp: isContained ? '/home/runner/work/_temp' : temp },
    secrets: { ...scope.secrets, ...ofEnvironment },
    steps,
  };
  let failed = false;
  // A job that always runs does so after a cancel as well, with all of its steps.
  let cancelled = false;
  const contexts = (): Contexts => ({ values, failed, cancelled });
  const stepPlace = { workspace, temp, sha: scope.sha, token, artifacts, isContained };
  for (const step of job.steps) {
    const note = (outcome: string, outputs: Record<string, string> = {}) => {
      if (step.id !== undefined) steps[step.id] = { outputs, outcome };
    };
    if (!isDue(step.if, contexts())) {
      note('skipped');
      continue;
    }
    const given = Object.fromEntries(
      Object.entries(step.with ?? {}).map(([key, value]) => [key, filled(String(value), contexts())]),
    );
    if (step.run !== undefined) {
      const own = Object.entries(step.env ?? {}).map(([key, value]) => [key, filled(value, contexts())]);
      const output = join(temp, 'output');
      writeFileSync(output, '');
      const env = {
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: join(temp, 'summary'),
        GITHUB_WORKSPACE: workspace,
        RUNNER_TEMP: temp,
        ...Object.fromEntries(own),
      };
      execFileSync(isContained ? 'sh' : 'bash', ['-e', '-c', step.run], {
        cwd: workspace,
        env: { PATH: process.env.PATH, HOME: temp, ...run.env, ...env },
      });
      note('success', valuesIn(readFileSync(output, 'utf8')));
      continue;
    }
    const end = await runStep(run, step, given, stepPlace);
    if (end.action !== null) actions.push(end.action);
    if (end.action !== null && run.cancel !== undefined && isOfModel(given)) cancelled = true;
    note(end.failed ? 'failure' : 'success', end.outputs);
    failed ||= end.failed && step['continue-on-error'] !== true;
  }
  const outputs = Object.entries(job.outputs ?? {}).map(([key, text]) => [key, filled(text, contexts())]);
  const result = cancelled ? 'cancelled' : failed ? 'failure' : 'success';
  return { ...ended, result, outputs: Object.fromEntries(outputs) };
}
