/** A repository on a local GitHub and runs in it, for tests of what a publication comes to. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Publication } from '../../../src/domain/github/publishing/publication.ts';
import type { RunResult } from '../../../src/library.ts';
import { makeRepository, type Repository, removeFolders, temporaryFolder } from '../files/repository.ts';
import {
  type GitHub,
  type GitHubRepository,
  isWrite,
  type NewToken,
  startGitHub,
} from '../github-server/server.ts';
import { resultIn } from '../published.ts';
import { call, type FinishedRun, scriptedRun } from '../runs/scripted-run.ts';
import { JOB_PERMISSIONS, type Published, publish } from './publishing.ts';

const FILES = {
  'README.md': '# Shop\n',
  'src/total.js': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n',
  'src/old name.js': 'a\nb\nc\nd\ne\nf\ng\n',
  'tool.sh': 'echo\n',
  'gone/only.txt': 'bye\n',
  'docs/guide.md': 'guide\n',
};

/** What the run of each test does: all that a patch can hold. */
export const COMMANDS = [
  'sed -i s/two/zwei/ src/total.js',
  'mv "src/old name.js" "src/new näme.js" && sed -i s/^a$/A/ "src/new näme.js"',
  'chmod +x tool.sh',
  'rm gone/only.txt',
  'ln -s README.md link',
  "printf 'x\\0y\\377' > picture.bin",
  "printf 'no newline, CRLF\\r\\nlast' > crlf.txt",
  ': > empty',
].join(' && ');

/** A token that may do everything that a publication needs. */
export const ENOUGH: NewToken = { kind: 'installation', permissions: JOB_PERMISSIONS };

export type ShopPublished = Published & { readonly said: Publication };

export interface Shop {
  readonly github: GitHub;
  readonly upstream: GitHubRepository;
  /** What is published. Each test begins with a run that does all that a patch can hold. */
  run: FinishedRun;
  /** A run of this command in the repository, with a run directory of this test alone. */
  finished(command: string, args?: readonly string[]): Promise<FinishedRun>;
  /** From a folder that is no checkout and knows nothing of the repository. */
  publish(args?: readonly string[], given?: { token?: NewToken }): Promise<ShopPublished>;
  /** The requests so far that could have changed something. */
  writes(): string[];
  /** Changes the result of the run behind its back. */
  tamper(change: (result: RunResult) => unknown): void;
}

/** For a whole test file: a GitHub for each of its tests, and what they do there. */
export function openShop(): Shop {
  let repository: Repository;
  let github: GitHub;
  let upstream: GitHubRepository;
  let run: FinishedRun;
  /** Runs that were made, by what they did. */
  const runs = new Map<string, FinishedRun>();

  beforeAll(async () => {
    repository = await makeRepository(FILES);
  });
  beforeEach(async () => {
    github = await startGitHub();
    upstream = await github.addRepository('octo/shop', {
      from: repository.root,
      collaborators: { maintainer: 'write' },
      labels: ['bot'],
      milestones: ['Next'],
    });
    run = await finished(COMMANDS);
  });
  afterEach(async () => {
    await github.close();
    expect(github.invalid).toEqual([]);
  });
  afterAll(removeFolders);

  async function finished(command: string, args: readonly string[] = ['--verify', 'test -f README.md']) {
    const key = JSON.stringify([command, args]);
    const made = runs.get(key) ?? (await newRun(repository, command, args));
    runs.set(key, made);
    const runDir = temporaryFolder();
    for (const name of ['result.json', 'changes.patch'])
      writeFileSync(join(runDir, name), readFileSync(join(made.runDir, name)));
    return { ...made, runDir };
  }

  return {
    get github() {
      return github;
    },
    get upstream() {
      return upstream;
    },
    get run() {
      return run;
    },
    set run(another) {
      run = another;
    },
    finished,
    async publish(args = [], { token = ENOUGH } = {}) {
      const secret = github.addToken(token);
      const there = { github, repository: upstream, token: secret, artifact: run.runDir };
      const { exitCode, said, stderr } = await publish(there, { args });
      if (said === null) throw new Error(stderr);
      return { exitCode, said, stderr };
    },
    writes: () => github.requests.filter(isWrite).map(({ method, path }) => `${method} ${path}`),
    tamper(change) {
      const path = join(run.runDir, 'result.json');
      const result = resultIn(readFileSync(path, 'utf8'));
      change(result);
      writeFileSync(path, JSON.stringify(result));
    },
  };
}

async function newRun(repository: Repository, command: string, args: readonly string[]) {
  const made = await scriptedRun({
    repository,
    args: ['--sandbox', 'off', ...args],
    turns: [
      { calls: [call('run_command', { command })] },
      { calls: [call('finish', { status: 'done', summary: 'Changed what was asked for.' })] },
    ],
  });
  // The work tree is as it was, for further runs.
  await repository.git('reset', '--hard', '--quiet');
  await repository.git('clean', '-fdq');
  return made;
}
