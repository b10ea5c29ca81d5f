/** The life of a pull request on a local GitHub: runs in a checkout, publications of them, and what people do in between. */

import { cpSync } from 'node:fs';
import { expect } from 'vitest';
import type { Script, ScriptedTurn } from '../claude-server/script.ts';
import { makeRepository, type Repository, temporaryFolder } from '../files/repository.ts';
import { type GitHub, type GitHubRepository, startGitHub } from '../github-server/server.ts';
import type { Issue } from '../github-server/state/world.ts';
import { cliHere } from '../runs/in-process.ts';
import { call, type FinishedRun, scriptedRun } from '../runs/scripted-run.ts';
import { jobEnvironment } from './github-job.ts';
import { addressesOf, JOB_PERMISSIONS, NAME, type Published, publish, SECOND_MS } from './publishing.ts';

/** A write of a file, and the end of the work. */
export function writes(path: string, content: string, summary: string): ScriptedTurn[] {
  const finish = call('finish', { status: 'done', summary });
  return [{ calls: [call('write_file', { path, content })] }, { calls: [finish] }];
}

/** An event that starts a job. Without one, somebody types the command. */
export interface LifeEvent {
  readonly name: string;
  readonly payload?: Readonly<Record<string, unknown>>;
  /** Login. Default: mona, who may write. */
  readonly sender?: string;
}

export interface Life {
  readonly github: GitHub;
  readonly hosted: GitHubRepository;
  readonly checkout: Repository;
  /** Checks out what the pull request has now. */
  toHead(number: number): Promise<void>;
  /** With an event, `prepare` goes before it, in the same workflow run. */
  run(turns: Script, args: readonly string[], event?: LifeEvent): Promise<FinishedRun>;
  publish(run: FinishedRun, args?: readonly string[]): Promise<Published>;
  pull(number: number): Issue;
  /** The text of the first request. */
  prompt(run: FinishedRun): string;
}

/** Closed by `github.close()`. mona and ann may write, nobody else. `forgets`: each run is the first that a round is recorded for. */
export async function openLife(
  files: Readonly<Record<string, string>>,
  { forgets = false }: { forgets?: boolean } = {},
): Promise<Life> {
  const checkout = await makeRepository(files);
  const github = await startGitHub();
  const hosted = await github.addRepository(NAME, {
    from: checkout.root,
    collaborators: { mona: 'write', ann: 'write' },
  });
  const reads = {
    contents: 'read',
    issues: 'read',
    pull_requests: 'read',
    checks: 'read',
    actions: 'read',
  } as const;
  const reader = github.addToken({ kind: 'installation', permissions: reads });
  const token = github.addToken({ kind: 'installation', permissions: JOB_PERMISSIONS });
  const typed = { ...addressesOf(github, hosted), GITHUB_TOKEN: reader };
  let workflowRun = 0;
  return {
    github,
    hosted,
    checkout,
    async toHead(number) {
      const { pull } = hosted.issues.get(number) ?? {};
      const refs = '+refs/heads/*:refs/remotes/origin/*';
      await checkout.git('fetch', '--quiet', hosted.gitFolder, refs);
      await checkout.git('clean', '-fdq');
      await checkout.git('checkout', '--quiet', '--force', '--detach', `refs/remotes/origin/${pull?.head}`);
    },
    async run(turns, args, event) {
      workflowRun += 1;
      const sender = github.addUser(event?.sender ?? 'mona');
      const env: Record<string, string> =
        event === undefined
          ? typed
          : jobEnvironment(github, {
              event: event.name,
              payload: event.payload ?? {},
              repository: { id: 1, full_name: NAME },
              sha: (await hosted.head('main')) ?? '',
              sender,
              token: reader,
            });
      if (forgets) await hosted.git('update-ref', '-d', 'refs/patchsmith/rounds');
      if (event !== undefined) {
        env.GITHUB_RUN_ID = String(workflowRun);
        // What a job of another test has left there is not this one's.
        env.RUNNER_TEMP = temporaryFolder();
        const words = ['prepare', '--continue', args[args.indexOf('--continue') + 1] ?? 'never'];
        const given = ['--follow-up-rounds', '--comment'].flatMap((flag) =>
          args.includes(flag) ? [flag, args[args.indexOf(flag) + 1] ?? ''] : [],
        );
        const cwd = temporaryFolder();
        const writer = { PATH: process.env.PATH, HOME: cwd, ...env, GITHUB_TOKEN: token };
        await cliHere([...words, ...given], { cwd, env: writer, secondMs: SECOND_MS });
      }
      return scriptedRun({
        repository: checkout,
        turns,
        withoutTask: true,
        args: ['--verify', 'test -f a.txt', ...args],
        env: { ...env, CI: '' },
      });
    },
    publish({ runDir }, args = []) {
      const artifact = `${temporaryFolder()}/artifact`;
      cpSync(runDir, artifact, { recursive: true });
      return publish({ github, repository: hosted, token, artifact }, { args });
    },
    pull(number) {
      const issue = hosted.issues.get(number);
      if (issue?.pull == null) throw new Error(`There is no pull request #${number}`);
      return issue;
    },
    prompt({ events }) {
      const [start] = events;
      if (start?.type !== 'run.started') throw new Error('The run has not started.');
      return start.prompt;
    },
  };
}

/** It ended well; what it said is shown if it did not. */
export function expectDone({ exitCode, stderr }: Pick<Published, 'exitCode' | 'stderr'>): void {
  expect(exitCode, stderr).toBe(0);
}
