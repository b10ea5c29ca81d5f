/** Steps of a job that use an action: those of GitHub as far as our workflows need them, and the built one of this repository. */

import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { WITHOUT_NAMESPACES } from '../machine/without-filters.ts';
import { GHES_PINS, isOwn, PINS } from './action-pins.ts';
import { type ActionEnd, runAction } from './action-runner.ts';
import type { WorkflowStep } from './workflow-file.ts';
import type { WorkflowRun } from './workflow-runner.ts';

/** Whether a step of the action carries out the plan, for the first time. */
export const isOfModel = ({ mode }: Readonly<Record<string, string>>) => (mode || 'run') === 'run';

export interface StepPlace {
  readonly workspace: string;
  readonly temp: string;
  readonly sha: string;
  readonly token: string;
  readonly artifacts: string;
  /** In a container of Docker, whose user is not that of the workspace. */
  readonly isContained: boolean;
}

interface StepResult {
  readonly failed: boolean;
  readonly outputs: Record<string, string>;
  readonly action: ActionEnd | null;
}

export async function runStep(
  run: WorkflowRun,
  { uses = '', name }: WorkflowStep,
  given: Record<string, string>,
  place: StepPlace,
): Promise<StepResult> {
  const done = (outputs: Record<string, string> = {}, failed = false) => ({ failed, outputs, action: null });
  const [action = '', commit = ''] = uses.split('@');
  const pins: Readonly<Record<string, string>> = run.isEnterprise ? { ...PINS, ...GHES_PINS } : PINS;
  if (!/^[0-9a-f]{40}$/.test(commit) || (!isOwn(uses) && pins[action] !== commit))
    throw new Error(`This commit is not one for here: ${uses}`);
  if (isOwn(uses)) {
    const ended = await runPatchsmith(run, given, place);
    return { failed: ended.exitCode !== 0, outputs: ended.outputs, action: ended };
  }
  switch (action) {
    case 'actions/checkout':
      await checkOut(run, given, place);
      if (place.isContained) {
        chownSync(place.workspace, 1001, 1001);
        chmodSync(place.workspace, 0o755);
      }
      return done();
    case 'actions/upload-artifact': {
      const found = (given.path ?? '').split('\n').filter((path) => path !== '' && existsSync(path));
      // A file that is not zipped is its own artifact.
      const isPlain = given.archive === 'false' && !run.isEnterprise;
      const folder = join(place.artifacts, isPlain ? basename(found[0] ?? '') : (given.name ?? 'artifact'));
      if (found.length > 0 && existsSync(folder) && !run.isEnterprise) {
        if (given.overwrite !== 'true') return done({}, true);
        rmSync(folder, { recursive: true });
      }
      for (const path of found) {
        mkdirSync(folder, { recursive: true });
        cpSync(path, join(folder, basename(path)));
      }
      const url = 'https://github.com/octo/shop/actions/runs/1/artifacts/1';
      const isMissing = found.length === 0 && given['if-no-files-found'] !== 'ignore';
      const outputs = { 'artifact-id': '1', 'artifact-url': url };
      return done(found.length > 0 && !run.isEnterprise ? outputs : {}, isMissing);
    }
    case 'actions/download-artifact': {
      const from = join(place.artifacts, given.name ?? '');
      if (!existsSync(from)) return done({}, true);
      cpSync(from, given.path ?? '', { recursive: true });
      return done();
    }
    case 'actions/create-github-app-token': {
      if (!given['client-id'] || !given['private-key']) return done({}, true);
      const wanted = Object.entries(given).flatMap(([key, access]) =>
        key.startsWith('permission-') ? [[key.slice('permission-'.length).replaceAll('-', '_'), access]] : [],
      );
      const permissions = Object.fromEntries(wanted);
      const token = run.github.addToken({ kind: 'installation', login: 'shop-app[bot]', permissions });
      return done({ token });
    }
    case 'actions/setup-python':
    case 'actions/setup-go':
    case 'actions/setup-java':
    case 'actions/setup-dotnet':
    case 'actions/setup-node':
      // It prints the versions of these, which start in the workspace.
      for (const tool of ['node', 'npm', 'yarn'])
        await execa(tool, ['--version'], { cwd: place.workspace, env: run.env ?? {}, reject: false });
      return done();
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
  const during = isOfModel(inputs) ? (run.cancel ?? run.timeLimit) : undefined;
  return runAction({
    workspace: place.workspace,
    token: place.token,
    inputs,
    event: event.payload,
    ...(run.built === true ? { built: true } : {}),
    ...(place.isContained ? { wrap: WITHOUT_NAMESPACES } : {}),
    ...(during === undefined ? {} : { during }),
    ...(run.kill?.mode === (inputs.mode || 'run') ? { during: run.kill.at } : {}),
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
      ...(place.isContained ? { HOME: place.temp } : {}),
      ...env,
    },
  });
}
