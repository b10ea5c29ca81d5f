/** The jobs of a workflow that publishes, run through the built action against a local GitHub and a local model. */

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Script } from '../claude-server/script.ts';
import { type ClaudeServer, startClaudeServer } from '../claude-server/server.ts';
import { makeRepository, type Repository, temporaryFolder } from '../files/repository.ts';
import { type GitHub, type GitHubRepository, startGitHub } from '../github-server/server.ts';
import type { Role } from '../github-server/state/world.ts';
import { call, KEY } from '../runs/scripted-run.ts';
import { type ActionEnd, type ActionRun, runAction } from './action-runner.ts';
import { addressesOf, JOB_PERMISSIONS, NAME } from './publishing.ts';

export const edit = { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] };
export const done = { text: 'All done.' };

export interface Place {
  readonly github: GitHub;
  readonly hosted: GitHubRepository;
  readonly checkout: Repository;
  readonly token: string;
  readonly model: ClaudeServer;
  /** What a runner sets for a job of this repository. */
  readonly env: Readonly<Record<string, string>>;
}

/** A repository on a local GitHub, a checkout of it, and a model. Closed when the test has finished. */
export async function place(
  turns: Script,
  more: { collaborators?: Readonly<Record<string, Role>>; milestones?: readonly string[] } = {},
): Promise<Place> {
  const checkout = await makeRepository({ 'a.txt': 'old\n' });
  const github = await startGitHub();
  onTestFinished(() => github.close());
  const hosted = await github.addRepository(NAME, { from: checkout.root, ...more });
  const token = github.addToken({ kind: 'installation', permissions: JOB_PERMISSIONS });
  const model = await startClaudeServer({ turns, apiKey: KEY });
  onTestFinished(() => model.close());
  const env = { ...addressesOf(github, hosted), GITHUB_GRAPHQL_URL: `${github.url}/graphql` };
  return { github, hosted, checkout, token, model, env };
}

function runInputs({ model }: Place): Record<string, string> {
  return { plan: '# Renew\n\nDo it', 'api-key': KEY, 'base-url': model.url };
}

/** The first job of two: no token of GitHub. Its run directory goes on as an artifact. */
export async function runJob(
  at: Place,
  inputs: Record<string, string> = {},
): Promise<{ ended: ActionEnd; artifact: string }> {
  const ended = await runAction({
    workspace: at.checkout.root,
    inputs: { ...runInputs(at), ...inputs },
    env: at.env,
  });
  const artifact = join(temporaryFolder(), 'artifact');
  cpSync(ended.outputs['run-dir'] ?? '', artifact, { recursive: true });
  return { ended, artifact };
}

/** The second job: no checkout, no key of the model. */
export function publishJob(
  { token, env }: Place,
  artifact: string,
  { inputs = {}, during }: Pick<ActionRun, 'inputs' | 'during'> = {},
): Promise<ActionEnd> {
  return runAction({
    workspace: temporaryFolder(),
    inputs: { mode: 'publish', 'run-dir': artifact, 'github-token': token, ...inputs },
    env,
    ...(during === undefined ? {} : { during }),
  });
}

/** Both in one job. */
export function oneJob(
  at: Place,
  { inputs = {}, env = {}, during }: Pick<ActionRun, 'inputs' | 'env' | 'during'> = {},
): Promise<ActionEnd> {
  return runAction({
    workspace: at.checkout.root,
    inputs: { ...runInputs(at), mode: 'run-and-publish', 'github-token': at.token, ...inputs },
    env: { ...at.env, ...env },
    ...(during === undefined ? {} : { during }),
  });
}
