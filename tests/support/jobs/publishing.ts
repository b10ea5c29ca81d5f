/** Runs of the built command whose repository stands on a local GitHub, and publications of them. */

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect } from 'vitest';
import type { Publication } from '../../../src/domain/github/publishing/publication.ts';
import type { PlanSource } from '../../../src/domain/run/plan.ts';
import type { RunResult } from '../../../src/domain/run/result.ts';
import type { Script } from '../claude-server/script.ts';
import { makeRepository, type Repository, temporaryFolder } from '../files/repository.ts';
import {
  type GitHub,
  type GitHubRepository,
  type SeenRequest,
  startGitHub,
} from '../github-server/server.ts';
import type { NewRepository } from '../github-server/state/new-repository.ts';
import { publicationIn } from '../published.ts';
import { CLI } from '../runs/cli.ts';
import { cliHere } from '../runs/in-process.ts';
import { scriptedRun } from '../runs/scripted-run.ts';
import { PATIENCE_MS } from '../waiting/patience.ts';

/** Where every run of these tests comes from. */
export const NAME = 'acme/shop';

/** What GITHUB_TOKEN has in the recommended workflow. */
export const JOB_PERMISSIONS = { contents: 'write', pull_requests: 'write', issues: 'write' } as const;

export interface MadeRun {
  readonly repository: Repository;
  readonly runDir: string;
  readonly result: RunResult;
}

/** A run in a checkout of its own. Throws when it does not end as done. `prepare` is called before the run. */
export async function madeRun(
  files: Readonly<Record<string, string | Uint8Array>>,
  turns: Script,
  given: { args?: readonly string[]; prepare?: (repository: Repository) => Promise<unknown> } = {},
): Promise<MadeRun> {
  const repository = await makeRepository(files);
  await given.prepare?.(repository);
  const { result, runDir, stderr } = await scriptedRun({ repository, turns, args: given.args ?? [] });
  if (result.outcome !== 'done') throw new Error(`The run ended as ${result.outcome}:\n${stderr}`);
  return { repository, runDir, result };
}

// Tests that wait for rate limits run side by side, where no test can be told from another.
const open: GitHub[] = [];

/** For `afterAll`. Throws when one of them answered what GitHub would not. */
export async function closeGitHubs(): Promise<void> {
  await Promise.all(open.splice(0).map((github) => github.close()));
}

/** A local GitHub with the repository of a run as it was when the run began, and the run as its artifact brings it. */
export interface OnGitHub {
  readonly github: GitHub;
  readonly repository: GitHubRepository;
  /** Of `github-actions[bot]`. */
  readonly token: string;
  /** A copy of the run directory. */
  readonly artifact: string;
}

/** `issue`: the run's plan came from issue #1, which is there. Closed by `closeGitHubs`. */
export async function onGitHub(
  made: MadeRun,
  { issue = false, ...given }: NewRepository & { issue?: boolean } = {},
): Promise<OnGitHub> {
  const github = await startGitHub();
  open.push(github);
  const repository = await github.addRepository(NAME, { from: made.repository.root, ...given });
  const token = github.addToken({ kind: 'installation', permissions: JOB_PERMISSIONS });
  const artifact = join(temporaryFolder(), 'artifact');
  cpSync(made.runDir, artifact, { recursive: true });
  if (issue) {
    const { number } = github.addIssue(NAME, { title: 'Please', body: 'Do it', author: 'ann' });
    const url = `${github.serverUrl}/${NAME}/issues/${number}`;
    writeSource(artifact, { kind: 'issue', repository: NAME, number, url, author: 'ann' });
  }
  return { github, repository, token, artifact };
}

function writeSource(runDir: string, source: PlanSource): void {
  const path = join(runDir, 'result.json');
  const result = JSON.parse(readFileSync(path, 'utf8')) as RunResult;
  writeFileSync(path, JSON.stringify({ ...result, plan: { ...result.plan, source } }));
}

/** What the command said and came to. */
export interface Published {
  readonly exitCode: number | undefined;
  readonly stderr: string;
  /** The document on stdout; null when there was none. */
  readonly said: Publication | null;
}

export interface Publishing {
  /** Another run directory than the artifact. */
  readonly run?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Kills the command with SIGKILL when this says so, at the moment that a request has been carried out; it is the built one
   * then.
   */
  readonly killAt?: (request: SeenRequest) => boolean;
  /** The built command. Without it, and without `killAt`, the command is carried out in this process. */
  readonly built?: boolean;
}

/** How long a second of the pauses between tries lasts here. */
export const SECOND_MS = 20;

/** `patchsmith publish` with what a job of a workflow has in its environment. */
export async function publish(there: OnGitHub, publishing: Publishing = {}): Promise<Published> {
  const { github, repository, artifact, token } = there;
  const words = ['publish', publishing.run ?? artifact, '--output', 'json', ...(publishing.args ?? [])];
  const env = {
    GITHUB_TOKEN: token,
    ...addressesOf(github, repository),
    ...publishing.env,
  };
  const { built = false, killAt } = publishing;
  const { exitCode, stdout, stderr } =
    built || killAt !== undefined
      ? await spawned(words, { artifact, env, github, killAt })
      : await cliHere(words, {
          cwd: artifact,
          env: { PATH: process.env.PATH, HOME: artifact, ...env },
          secondMs: SECOND_MS,
        });
  expect(`${stdout}${stderr}`).not.toContain(token);
  return {
    exitCode,
    stderr,
    said: stdout.trim() === '' ? null : publicationIn(stdout),
  };
}

/** What a runner sets for a job of this repository. */
export function addressesOf(github: GitHub, { fullName }: Pick<GitHubRepository, 'fullName'>) {
  return {
    GITHUB_REPOSITORY: fullName,
    GITHUB_API_URL: github.url,
    GITHUB_SERVER_URL: github.serverUrl,
  };
}

interface Spawning extends Pick<OnGitHub, 'artifact' | 'github'> {
  readonly env: Readonly<Record<string, string>>;
  readonly killAt: Publishing['killAt'] | undefined;
}

/** The built command, killed where that is asked for. */
async function spawned(words: readonly string[], { artifact, env, github, killAt }: Spawning) {
  const child = execa(process.execPath, [CLI, ...words], {
    cwd: artifact,
    extendEnv: false,
    env: { PATH: process.env.PATH ?? '', HOME: artifact, ...env },
    reject: false,
    stdin: 'ignore',
    timeout: PATIENCE_MS,
  });
  let isKilled = false;
  github.after(async (request) => {
    if (isKilled || killAt?.(request) !== true) return;
    isKilled = true;
    child.kill('SIGKILL');
    await child;
  });
  return child;
}

/** How a commit gets to GitHub, and the arguments that ask for it. */
export const ROUTES = [
  ['push', '--sign=auto'],
  ['api', '--sign=required'],
] as const;

/** The branch was moved by this route and by no other. */
export function expectRoute({ github }: OnGitHub, via: string): void {
  const moves = ['git/create-ref', 'git/update-ref'];
  const isByApi = github.requests.some(({ operation }) => moves.includes(operation ?? ''));
  expect(isByApi ? 'api' : 'push').toBe(via);
}

/** What a person finds on GitHub after publishing. */
export interface Found {
  /** Branches besides the default one, with the id of their trees. */
  readonly branches: readonly { readonly name: string; readonly tree: string; readonly commits: number }[];
  readonly pulls: readonly { readonly number: number; readonly head: string; readonly state: string }[];
  /** Number of comments of all issues that the bot wrote. */
  readonly comments: number;
}

export async function find({ repository }: Pick<OnGitHub, 'repository'>): Promise<Found> {
  const { settings, issues } = repository;
  const out = await repository.git('for-each-ref', '--format=%(refname:short) %(tree)', 'refs/heads/');
  const heads = out
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([name]) => name !== settings.defaultBranch);
  const branches = await Promise.all(
    heads.map(async ([name = '', tree = '']) => ({
      name,
      tree,
      commits: Number(await repository.git('rev-list', '--count', `${settings.defaultBranch}..${name}`)),
    })),
  );
  const comments = [...issues.values()].flatMap((issue) => issue.comments);
  return {
    branches,
    pulls: repository.pulls().map(({ number, pull, state }) => ({ number, head: pull?.head ?? '', state })),
    comments: comments.filter(({ author }) => author.type === 'Bot').length,
  };
}
