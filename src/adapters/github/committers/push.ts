/** Commits with git itself and an ordinary push: no checkout, no hook, none of anyone's settings, and no force. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { failed } from '../../../domain/failed.ts';
import { askGit, type GitCall, runGit } from '../../../git/git.ts';
import { makeRepository } from '../../../git/store/bare-repository.ts';
import { ObjectStore } from '../../../git/store/object-store.ts';
import { ScratchIndex } from '../../../git/store/trees.ts';
import type { CommitOrder, Committed, Committer } from '../../../ports.ts';

/** Where to push from, where to, and as whom. */
export interface PushPlace {
  /** An empty private folder. */
  readonly folder: string;
  /** `https://github.com/owner/name.git`; http only for this machine. */
  readonly url: string;
  /** Passed to git in its environment, where no process list shows it. */
  readonly token: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly signal: AbortSignal;
  /** Proxies and certificates are taken from here. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Commits with git and pushes over https, for patches that the API does not accept. */
export function pushCommitter(place: PushPlace): Committer {
  const gitDir = join(place.folder, 'push.git');
  const ask = (args: readonly string[], more: Partial<GitCall> = {}) => ({
    cwd: place.folder,
    args: [`--git-dir=${gitDir}`, ...args],
    ...more,
  });
  return {
    async commit(order): Promise<Committed> {
      if (!existsSync(gitDir)) makeScratch(gitDir, place.url);
      const network = { env: networkEnvironment(place), signal: place.signal };
      const fetched = await askGit(
        ask(
          ['fetch', '--quiet', '--no-tags', '--depth=1', 'origin', order.baseCommit, ...order.parents],
          network,
        ),
      );
      if (fetched.exitCode !== 0) return failed(`git cannot fetch ${place.url}: ${fetched.stderr}`);
      const tree = await makeTree(gitDir, order);
      if (tree !== order.tree) return failed(`git made the tree ${tree} instead of ${order.tree}`);
      const made = await runGit(
        ask(['commit-tree', tree, ...order.parents.flatMap((parent) => ['-p', parent])], {
          env: identity(place),
          input: Buffer.from(order.message),
        }),
      );
      const sha = made.toString('latin1').trim();
      const push = ['push', '--porcelain', '--no-verify', 'origin', `${sha}:refs/heads/${order.branch}`];
      const pushed = await askGit(ask(push, network));
      if (pushed.exitCode === 0) return { status: 'made', sha, verified: null };
      const answer = `${pushed.stdout.toString('utf8')}\n${pushed.stderr}`;
      if (MOVED.test(answer)) return { status: 'moved' };
      return failed(`git push was refused: ${whyRefused(answer)}`);
    },
  };
}

/** Someone else was faster: before the push began, or while the server processed it. */
const MOVED =
  /\[rejected\] \((?:fetch first|non-fast-forward|stale info|already exists)\)|cannot lock ref '[^']*': (?:reference already exists|is at [0-9a-f]+ but expected)/;

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

async function makeTree(gitDir: string, { baseTree, files }: CommitOrder): Promise<string> {
  const store = new ObjectStore(gitDir, 'sha1');
  for (const { state } of files) if (state?.bytes) store.write(state.bytes, null);
  const index = new ScratchIndex(gitDir, 'push.index');
  await index.readTree(baseTree);
  await index.edit(files);
  return index.writeTree();
}

function identity({ author: { name, email } }: PushPlace): Record<string, string> {
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

/** What can reach the network, and how, whatever the configuration: only this server, without redirects, with this token. */
function networkEnvironment({ url, token, env }: PushPlace): Record<string, string | undefined> {
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

/** The server's own words, if it gave any. */
function whyRefused(answer: string): string {
  const reason = /\[remote rejected\] \((.*)\)$/m.exec(answer)?.[1];
  const told = [...answer.matchAll(/^remote: (?:error: )?(.*\S)/gm)].map(([, line]) => line);
  return [...told, ...(reason === undefined ? [] : [reason])].join(' ') || answer.trim().slice(0, 2_000);
}
