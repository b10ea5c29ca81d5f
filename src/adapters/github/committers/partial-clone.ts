/** A temporary repository with single commits of one on GitHub: no checkout, no hooks, nobody's settings. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../../domain/environment.ts';
import { askGit, type GitCall } from '../../../git/git.ts';
import { makeRepository } from '../../../git/store/bare-repository.ts';

/** Where the clone is, and what it is of. */
export interface ClonePlace {
  /** A private folder. */
  readonly folder: string;
  /** `https://github.com/owner/name.git`; http only for this machine. */
  readonly url: string;
  /** Passed to git in its environment, where no process list shows it. */
  readonly token: string;
  readonly signal: AbortSignal;
  /** Proxies and certificates are taken from here. */
  readonly env: Environment;
}

/** The clone, which is made when the first commit is fetched. */
export interface PartialClone {
  readonly gitDir: string;
  /** For git calls that may ask the server. */
  readonly network: Pick<GitCall, 'env' | 'signal'>;
  /** Null when the commits are there, with their folders and without their history; otherwise why not. */
  fetch(commits: readonly string[]): Promise<string | null>;
}

/** Opens a clone in `push.git` of the folder. */
export function openPartialClone(place: ClonePlace): PartialClone {
  const gitDir = join(place.folder, 'push.git');
  const network = { env: networkEnvironment(place), signal: place.signal };
  return {
    gitDir,
    network,
    async fetch(commits) {
      if (!existsSync(gitDir)) makeScratch(gitDir, place.url);
      const args = ['fetch', '--quiet', '--no-tags', '--depth=1', 'origin', ...commits];
      const fetched = await askGit({ cwd: place.folder, args: [`--git-dir=${gitDir}`, ...args], ...network });
      return fetched.exitCode === 0 ? null : `git cannot fetch ${place.url}: ${fetched.stderr}`;
    },
  };
}

/** Contents are not fetched: a new commit only needs folders. */
function makeScratch(gitDir: string, url: string): void {
  makeRepository({
    gitDir,
    objectFormat: 'sha1',
    alternate: null,
    head: 'ref: refs/heads/none',
    core: { repositoryformatversion: '1', bare: true, logAllRefUpdates: false },
    config: `[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ${JSON.stringify(url)}\n\tpromisor = true\n\tpartialclonefilter = blob:none\n`,
  });
}

/** Limits network access whatever the configuration: only this server, without redirects, with this token. */
function networkEnvironment({ url, token, env }: ClonePlace): Record<string, string | undefined> {
  const settings = [
    [`http.${new URL(url).origin}/.extraHeader`, `Authorization: Basic ${basic(token)}`],
    ['http.followRedirects', 'false'],
    ['credential.helper', ''],
    // Gives up on a server that is silent for a minute.
    ['http.lowSpeedLimit', '1'],
    ['http.lowSpeedTime', '60'],
  ];
  return {
    // A push makes deltas against the previous contents, and requests them from the server. There is no other server here.
    GIT_NO_LAZY_FETCH: undefined,
    GIT_ALLOW_PROTOCOL: 'https:http',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, key],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
    ...Object.fromEntries(PASSED_ON.map((name) => [name, env[name]])),
  };
}

const PASSED_ON = [
  'HTTPS_PROXY',
  'https_proxy',
  'HTTP_PROXY',
  'http_proxy',
  'NO_PROXY',
  'no_proxy',
  'GIT_SSL_CAINFO',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

function basic(token: string): string {
  return Buffer.from(`x-access-token:${token}`).toString('base64');
}
