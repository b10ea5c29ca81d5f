/**
 * The publisher's own clone: single commits of a repository on GitHub in a bare scratch repository, without history, contents
 * or a work tree. Nobody's settings, no hooks, and a push without force.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '../../domain/environment.ts';
import { askGit, type GitAnswer, type GitCall, runGit } from '../../git/git.ts';
import { makeRepository } from '../../git/store/bare-repository.ts';
import { readBlobs } from '../../git/store/blobs.ts';
import type { Person } from '../../ports/github.ts';
import { GitHubRefused } from './request.ts';

/** Where the clone is, and what it is of. */
export interface ClonePlace {
  /** A private folder. */
  readonly folder: string;
  /** `https://github.com/owner/name.git`; http only for this machine. */
  readonly url: string;
  /** Passed to git in its environment, where no process list shows it. */
  readonly token: string;
  readonly signal: AbortSignal;
  /** Called in place of each push, with its command line. */
  readonly tell?: ((line: string) => void) | undefined;
  /** Proxies and certificates are taken from here. */
  readonly env: Environment;
  /** Length of a second, in milliseconds, in the pauses before retries. Default: 1,000. */
  readonly secondMs?: number | undefined;
}

/** Maximum bytes of a content that is read: as much as a patch may make of its files together. */
export const MAX_CONTENT_BYTES = 256 * 1024 * 1024;

/** Made when something is first fetched. Each operation that asks the server throws `GitHubRefused` if that fails. */
export class Clone {
  readonly gitDir: string;
  readonly url: string;
  /** For git calls that may ask the server. */
  readonly network: Pick<GitCall, 'env' | 'signal'>;
  readonly #place: ClonePlace;
  readonly #fetched = new Set<string>();

  constructor(place: ClonePlace) {
    this.#place = place;
    this.url = place.url;
    this.gitDir = join(place.folder, 'clone.git');
    this.network = { env: networkEnvironment(place), signal: place.signal };
  }

  /** Fetches the commits with their folders. False if the repository lacks one of them. */
  fetch(commits: readonly string[]): Promise<boolean> {
    return this.#fetch(['--depth=1'], commits);
  }

  /** Fetches contents of commits that were fetched. */
  async fetchContents(ids: readonly string[]): Promise<void> {
    if (!(await this.#fetch(CONTENTS, ids))) throw refusedBy('git fetch', 'contents are missing');
  }

  /** The same, and reads them by their ids; null for one that has more than `maxBytes`. */
  async contents(ids: readonly string[], maxBytes: number): Promise<Map<string, Buffer | null>> {
    await this.fetchContents(ids);
    return readBlobs(this.gitDir, ids, () => maxBytes);
  }

  /** A commit that was fetched. */
  async commit(sha: string): Promise<{ tree: string; message: string }> {
    const shown = await this.run(['log', '-1', '--no-show-signature', '--format=%T%n%B', sha]);
    const [tree = '', ...lines] = shown.toString('utf8').split('\n');
    return { tree, message: lines.join('\n') };
  }

  /** A new commit of a tree. */
  async makeCommit(order: {
    readonly tree: string;
    readonly parents: readonly string[];
    readonly message: string;
    readonly author: Person;
    readonly committer: Person;
    /** In a form that git accepts. Default: now. */
    readonly date?: string;
  }): Promise<string> {
    const { tree, parents, message, author, committer, date } = order;
    const made = await this.run(['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])], {
      env: {
        GIT_AUTHOR_NAME: author.name,
        GIT_AUTHOR_EMAIL: author.email,
        GIT_COMMITTER_NAME: committer.name,
        GIT_COMMITTER_EMAIL: committer.email,
        ...(date && { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }),
      },
      input: Buffer.from(message),
    });
    return made.toString('latin1').trim();
  }

  /** False if the ref is not where it could be moved forward from: someone else was faster. */
  push(sha: string, ref: string): Promise<boolean> {
    return this.#push(`${sha}:${ref}`);
  }

  /** Deletes a ref. False if it is no longer at this commit. */
  remove(sha: string, ref: string): Promise<boolean> {
    return this.#push(`--force-with-lease=${ref}:${sha}`, `:${ref}`);
  }

  async #push(...words: string[]): Promise<boolean> {
    const { tell } = this.#place;
    tell?.(`git push ${this.url} ${words.join(' ')}`);
    if (tell !== undefined) return true;
    if (!existsSync(this.gitDir)) makeScratch(this.gitDir, this.url);
    const args = ['push', '--porcelain', '--no-verify', 'origin', ...words];
    const pushed = await this.#askServer(args);
    if (pushed.exitCode === 0) return true;
    const said = `${pushed.stdout.toString('utf8')}\n${pushed.stderr}`;
    if (MOVED.test(said)) return false;
    throw refusedBy('git push', said);
  }

  /** Git's output, without asking the server. Throws if git fails. */
  run(args: readonly string[], more: Partial<GitCall> = {}): Promise<Buffer> {
    return runGit({ cwd: this.#place.folder, args: [`--git-dir=${this.gitDir}`, ...args], ...more });
  }

  async #fetch(how: readonly string[], ids: readonly string[]): Promise<boolean> {
    if (!existsSync(this.gitDir)) makeScratch(this.gitDir, this.url);
    const wanted = [...new Set(ids)].filter((id) => !this.#fetched.has(id) && !this.#isMadeHere(id));
    if (wanted.length === 0) return true;
    const input = Buffer.from(wanted.map((id) => `${id}\n`).join(''));
    const answer = await this.#askServer(
      ['fetch', '--quiet', '--no-tags', ...how, '--stdin', 'origin'],
      input,
    );
    if (answer.exitCode !== 0) {
      if (MISSING.test(answer.stderr)) return false;
      throw refusedBy('git fetch', answer.stderr);
    }
    for (const id of wanted) this.#fetched.add(id);
    return true;
  }

  /** Git keeps what it makes itself in a file each, and what it fetches in packs. */
  #isMadeHere(id: string): boolean {
    return existsSync(join(this.gitDir, 'objects', id.slice(0, 2), id.slice(2)));
  }

  /** What passes is waited for, as it is with the API. Both a fetch and a push can be repeated. */
  async #askServer(args: readonly string[], input?: Uint8Array): Promise<GitAnswer> {
    const { folder, signal, secondMs = 1_000 } = this.#place;
    const call = { cwd: folder, args: [`--git-dir=${this.gitDir}`, ...args], ...this.network };
    for (const seconds of [...PAUSES_S, null]) {
      const answer = await askGit(input === undefined ? call : { ...call, input });
      if (answer.exitCode === 0 || seconds === null || !PASSING.test(answer.stderr)) return answer;
      await delay(seconds * secondMs, undefined, { signal });
    }
    throw new Error('There is no try after the last one.');
  }
}

const PAUSES_S = [1, 4, 9];

/** An outage, a lost connection, or a limit. */
const PASSING =
  /returned error: (?:429|5\d\d)|HTTP (?:429|5\d\d)|RPC failed|Could not resolve|Failed to connect|Connection|Empty reply|early EOF|hung up|disconnect|timed out|too slow/i;

/** `git fetch` of objects alone, as git does it for a clone without contents. */
const CONTENTS = ['--no-write-fetch-head', '--filter=blob:none'];

const MISSING = /not our ref|no such remote ref|couldn't find remote ref/i;

/** Someone else was faster: before the push began, or while the server processed it. */
const MOVED =
  /\[rejected\] \((?:fetch first|non-fast-forward|stale info|already exists)\)|cannot lock ref '[^']*': (?:reference already exists|unable to resolve|is at [0-9a-f]+ but expected)/;

/** The server's own words, if it gave any. */
function refusedBy(route: string, said: string): GitHubRefused {
  const reasons = [
    ...[...said.matchAll(/^remote: (?:error: )?(.*\S)/gm)].map(([, line]) => line),
    /\[remote rejected\] \((.{0,300})\)$/m.exec(said)?.[1],
  ];
  const message =
    reasons.filter((one) => one !== undefined && !/\bhook declined\b/.test(one)).join(' ') ||
    said.trim().slice(0, 2_000);
  const asked = /returned error: (\d{3})/.exec(said)?.[1];
  return new GitHubRefused({
    route,
    status: asked === undefined ? statusIn(said) : Number(asked),
    message,
    permission: null,
    requestId: null,
  });
}

/** Git only describes a refusal in words. */
function statusIn(said: string): number | null {
  if (/Authentication failed|could not read Username|Invalid username/i.test(said)) return 401;
  if (/repository [^\n]{0,200}not found/i.test(said)) return 404;
  if (!/\[remote rejected\]|^remote: /m.test(said)) return null;
  return /workflow|permission|denied/i.test(said) ? 403 : 422;
}

/** Contents are not fetched: most trees are only named. */
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
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
  const settings = [
    [`http.${new URL(url).origin}/.extraHeader`, `Authorization: Basic ${basic}`],
    ['http.followRedirects', 'false'],
    ['credential.helper', ''],
    // Gives up on a server that is silent for a minute.
    ['http.lowSpeedLimit', '1'],
    ['http.lowSpeedTime', '60'],
    ['fetch.negotiationAlgorithm', 'noop'],
    ['fetch.recurseSubmodules', 'false'],
    // Nothing tidies up in the background while the folder is removed.
    ['maintenance.auto', 'false'],
  ];
  return {
    // A merge and a push ask the server for the contents that they need. There is no other server here.
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
  ...['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy'],
  ...['GIT_SSL_CAINFO', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];
