/** Where requests arrive: who asks, what for, may they, what is done, and what goes back. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { accounts } from './answers/accounts.ts';
import { checks } from './answers/checks.ts';
import { comments } from './answers/comments.ts';
import { gitData } from './answers/git-data.ts';
import { issues } from './answers/issues.ts';
import { pulls } from './answers/pulls.ts';
import { repositories } from './answers/repositories.ts';
import { reviews } from './answers/reviews.ts';
import type { Answer, Handler } from './call.ts';
import { type Match, publishedDescription } from './description.ts';
import { type Fault, Faults, troubleAnswer } from './faults.ts';
import { type GitRequest, gitRequest, serveGit } from './git-http.ts';
import { graphql, graphqlKind } from './graphql.ts';
import { checkPermission, sees } from './permissions.ts';
import { notFound, Refusal } from './refusal.ts';
import type { Hook, Invalid, SeenRequest } from './server.ts';
import { labelNamed } from './state/labels.ts';
import type { Label, Repository, Token, World } from './state/world.ts';

const HANDLERS: Readonly<Record<string, Handler>> = {
  ...accounts,
  ...checks,
  ...comments,
  ...gitData,
  ...issues,
  ...pulls,
  ...repositories,
  ...reviews,
};

/** An answer as it goes over the wire. */
interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** A request with everything that was found out about it before it is carried out. */
interface Arrived {
  readonly request: IncomingMessage;
  readonly bytes: Buffer;
  readonly query: URLSearchParams;
  readonly seen: SeenRequest;
  readonly match: Match | null;
  readonly git: GitRequest | null;
}

export class Desk {
  readonly requests: SeenRequest[] = [];
  readonly invalid: Invalid[] = [];
  readonly faults = new Faults();
  readonly before: Hook[] = [];
  readonly after: Hook[] = [];
  readonly #world: World;
  readonly #description = publishedDescription();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(world: World) {
    this.#world = world;
  }

  label(repository: Repository, name: string): Label {
    return labelNamed(this.#world, repository, name);
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    this.#serve(request, response).catch((error: unknown) => {
      // A bug of the server must not look like an outage that heals with a retry.
      response.writeHead(418, { 'content-type': 'text/plain' });
      response.end(`github-server bug: ${error instanceof Error ? error.stack : String(error)}`);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrived = this.#arrived(request, await bytesOf(request));
    const { seen } = arrived;
    this.requests.push(seen);
    for (const hook of this.before) await hook(seen);
    const fault = this.faults.hitting(seen);
    const spoils = fault !== null && fault.trouble.kind !== 'slow';
    if (spoils && fault.carriedOut !== true) return this.#spoil(fault, seen, response);
    // One at a time, so that what a handler reads is still so when it writes.
    const reply = this.#queue.then(() => this.#reply(arrived));
    this.#queue = reply.catch(() => undefined);
    const { status, headers, body } = await reply;
    for (const hook of this.after) await hook(seen);
    if (spoils) return this.#spoil(fault, seen, response);
    if (fault?.trouble.kind === 'slow') await delay(fault.trouble.ms);
    seen.status = status;
    response.writeHead(status, { ...this.#limits(), ...headers });
    response.end(body);
  }

  async #spoil({ trouble }: Fault, seen: SeenRequest, response: ServerResponse): Promise<void> {
    switch (trouble.kind) {
      case 'slow':
        return;
      case 'reset':
        response.socket?.resetAndDestroy();
        return;
      case 'stall':
        await new Promise((resolve) => response.once('close', resolve));
        return;
      default: {
        const { status, headers, body } = troubleAnswer(trouble, this.#world.clock());
        seen.status = status;
        response.writeHead(status, { ...this.#limits(), ...headers });
        response.end(body);
      }
    }
  }

  #arrived(request: IncomingMessage, bytes: Buffer): Arrived {
    const { method = 'GET', url = '/', headers } = request;
    const [rawPath = '/', rawQuery = ''] = url.split('?');
    const path = rawPath.replace(/^\/api\/v3(?=\/)/, '');
    const query = new URLSearchParams(rawQuery);
    const git = gitRequest(path, query);
    const match = git === null ? this.#description.match(method, path) : null;
    const body = git === null ? jsonOf(bytes) : undefined;
    const asked = method === 'POST' && /^(?:\/api)?\/graphql$/.test(path) ? graphqlKind(body) : null;
    const operation = git === null ? (asked ?? match?.operation ?? null) : `git-http/${git.service}`;
    const seen: SeenRequest = {
      method,
      path,
      query: rawQuery,
      headers,
      body,
      operation,
      login: null,
      status: null,
    };
    return { request, bytes, query, seen, match, git };
  }

  async #reply(arrived: Arrived): Promise<Reply> {
    try {
      return arrived.git === null ? await this.#api(arrived) : await this.#git(arrived, arrived.git);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return this.#refused(arrived, error);
    }
  }

  async #api(arrived: Arrived): Promise<Reply> {
    const { seen, match, bytes, query, request } = arrived;
    if (request.headers['user-agent'] === undefined)
      throw new Refusal(
        403,
        'Request forbidden by administrative rules. Please make sure your request has a User-Agent header',
      );
    const log = /^\/_logs\/(\d+)$/.exec(seen.path)?.[1];
    if (log !== undefined) return this.#log(arrived, Number(log));
    const token = this.#token(request, seen);
    const moved = this.#moved(seen, query);
    if (moved !== null) return moved;
    if (seen.operation?.startsWith('graphql/')) {
      if (token === null) throw new Refusal(401, 'Requires authentication');
      const body = JSON.stringify(await graphql(this.#world, token, seen.body));
      return { status: 200, headers: JSON_TYPE, body };
    }
    if (match === null) {
      this.#blame('request', seen, ['no operation of this method and path']);
      throw notFound();
    }
    const repository = match.params.repo === undefined ? null : this.#repository(match.params, token);
    if (repository !== null) {
      checkPermission(match.operation, token, repository);
      if (repository.settings.archived && seen.method !== 'GET')
        throw new Refusal(403, 'Repository was archived so is read-only.');
    }
    if (bytes.length > 0 && seen.body === undefined) {
      this.#blame('request', seen, ['the body is not JSON']);
      throw new Refusal(400, 'Problems parsing JSON');
    }
    const errors = this.#description.requestErrors(match, query, seen.body);
    if (errors.length > 0) {
      this.#blame('request', seen, errors);
      throw new Refusal(422, `Invalid request.\n\n${errors.join('\n')}`);
    }
    const handler = HANDLERS[match.operation];
    if (handler === undefined) {
      this.#blame('request', seen, ['this server does not know the operation']);
      throw new Refusal(501, `${match.operation} is not known to this server`);
    }
    const answer = await handler({
      world: this.#world,
      params: match.params,
      query,
      body: (seen.body ?? {}) as Record<string, unknown>,
      accept: String(request.headers.accept ?? ''),
      token,
      repository: () => {
        if (repository === null) throw new Error(`${match.operation} names no repository`);
        return repository;
      },
      seen,
    });
    return this.#checked(arrived, match, answer);
  }

  /** Another host's, which must not be shown the token. */
  #log({ seen, request }: Arrived, id: number): Reply {
    if (request.headers.authorization !== undefined)
      this.#blame('request', seen, ['the token was sent to the host of the logs']);
    const body = this.#world.checks.find((one) => one.id === id)?.log ?? '';
    return { status: 200, headers: { 'content-type': 'text/plain' }, body };
  }

  async #git({ seen, request, bytes }: Arrived, git: GitRequest): Promise<Reply> {
    const repository = this.#world.repository(git.fullName);
    const challenge = { 'www-authenticate': 'Basic realm="GitHub"', 'content-type': 'text/plain' };
    let token: Token | null;
    try {
      token = this.#token(request, seen);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: 401, headers: challenge, body: 'Invalid username or token.' };
    }
    const open = repository !== undefined && !repository.settings.private && git.service === 'upload-pack';
    if (token === null && !open)
      return { status: 401, headers: challenge, body: 'No anonymous write access.' };
    const plain = { 'content-type': 'text/plain; charset=utf-8' };
    if (repository === undefined || !sees(token, repository))
      return { status: 404, headers: plain, body: 'Repository not found.' };
    try {
      checkPermission(`git-http/${git.service}`, token, repository);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const body = `Permission to ${repository.fullName}.git denied to ${token?.account.login}.`;
      return { status: 403, headers: plain, body };
    }
    if (repository.settings.archived && git.service === 'receive-pack')
      return { status: 403, headers: plain, body: 'This repository was archived so it is read-only.' };
    return serveGit(git, repository, token, request, bytes);
  }

  #token({ headers }: IncomingMessage, seen: SeenRequest): Token | null {
    const { authorization } = headers;
    if (authorization === undefined) return null;
    const [, scheme = '', given = ''] = /^(\S+)\s+(\S+)$/.exec(authorization) ?? [];
    const basic = Buffer.from(given, 'base64').toString('utf8');
    const text = scheme.toLowerCase() === 'basic' ? basic.slice(basic.indexOf(':') + 1) : given;
    const token = this.#world.tokens.get(text);
    if (token === undefined) throw new Refusal(401, 'Bad credentials');
    seen.login = token.account.login;
    return token;
  }

  /** Requests to the old name of a repository are sent on; one that changes something keeps its method. */
  #moved({ method, path }: SeenRequest, query: URLSearchParams): Reply | null {
    const [, old = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path) ?? [];
    const name = this.#world.renamed.get(old.toLowerCase());
    if (name === undefined) return null;
    const search = query.size > 0 ? `?${query}` : '';
    const location = `${this.#world.apiUrl}/repos/${name}${rest}${search}`;
    const body = JSON.stringify({ message: 'Moved Permanently', url: location });
    return { status: method === 'GET' ? 301 : 307, headers: { ...JSON_TYPE, location }, body };
  }

  #repository({ owner = '', repo = '' }: Match['params'], token: Token | null): Repository {
    const repository = this.#world.repository(`${owner}/${repo}`);
    if (repository === undefined || !sees(token, repository)) throw notFound();
    return repository;
  }

  #checked({ seen }: Arrived, match: Match, { status, body, headers = {} }: Answer): Reply {
    if (Buffer.isBuffer(body)) {
      return { status, headers: { 'content-type': 'application/vnd.github.raw+json', ...headers }, body };
    }
    const whole = this.#description.complete(match, status, body);
    const errors = this.#description.responseErrors(match, status, whole);
    if (errors.length > 0) this.#blame('answer', seen, errors);
    return {
      status,
      headers: { ...JSON_TYPE, ...headers },
      body: body === undefined ? '' : JSON.stringify(whole),
    };
  }

  #refused({ seen, match }: Arrived, { status, message, more, headers }: Refusal): Reply {
    const body = {
      message,
      ...more,
      documentation_url: 'https://docs.github.com/rest',
      status: String(status),
    };
    if (match !== null) {
      const errors = this.#description.responseErrors(match, status, body);
      if (errors.length > 0) this.#blame('answer', seen, errors);
    }
    return { status, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) };
  }

  #blame(side: Invalid['side'], { method, path }: SeenRequest, errors: readonly string[]): void {
    this.invalid.push({ side, request: `${method} ${path}`, errors });
  }

  #limits(): Record<string, string> {
    const used = this.requests.length;
    return {
      'x-github-request-id': `F00D:${used}`,
      'x-ratelimit-limit': '5000',
      'x-ratelimit-used': String(used),
      'x-ratelimit-remaining': String(Math.max(1, 5000 - used)),
      'x-ratelimit-reset': String(Math.ceil(this.#world.clock() / 1000) + 3600),
      'x-ratelimit-resource': 'core',
    };
  }
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Undefined when there is nothing, or no JSON. */
function jsonOf(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
