/** Bedrock and Vertex in front of the strict Claude API: their addresses, logins, bodies and framing. */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { temporaryFolder } from '../files/repository.ts';
import type { Fault, Script } from './script.ts';
import { type ClaudeServer, startClaudeServer } from './server.ts';

type Fields = Record<string, unknown>;

/** How a cloud differs from the API itself. */
interface Cloud {
  /** The model of the request, or why it is refused. */
  check(request: IncomingMessage, body: Fields): { model: string } | { status: number; message: string };
  /** Sends the body of an answer in the framing of the cloud. */
  passOn(answer: Response, response: ServerResponse): Promise<void>;
  /** Answers a request that is for another service of the cloud; false when it is not. */
  serve?(request: IncomingMessage, response: ServerResponse): boolean;
}

/** What a provider is opened with. */
export interface CloudServer {
  readonly url: string;
  readonly requests: ClaudeServer['requests'];
  close(): Promise<void>;
  settings(key: string): { baseUrl: string; apiKey: null; env: Record<string, string> };
}

const INNER_KEY = 'sk-ant-inner-0123456789';

async function startCloud(turns: Script, cloud: Cloud) {
  // What breaks the framing itself is sent by this server.
  let garbage: Extract<Fault, { kind: 'garbage' }> | undefined;
  const inner = await startClaudeServer({
    apiKey: INNER_KEY,
    turns: (body, index) => {
      const turn = typeof turns === 'function' ? turns(body, index) : turns[index];
      if (turn === undefined) return { fault: { kind: 'http', status: 400, message: 'The script is over.' } };
      garbage = turn.fault?.kind === 'garbage' ? turn.fault : undefined;
      return garbage === undefined ? turn : { text: '' };
    },
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (cloud.serve?.(request, response)) return;
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Fields;
    const checked = cloud.check(request, body);
    const refuse = (status: number, message: string) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message }));
    };
    if ('status' in checked) return refuse(checked.status, checked.message);
    const { anthropic_version: version, ...rest } = body;
    if (typeof version !== 'string') return refuse(400, 'anthropic_version: Field required');
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const answer = await fetch(`${inner.url}/v1/messages`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${INNER_KEY}`,
        'anthropic-version': version,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: checked.model, stream: true, ...rest }),
      redirect: 'manual',
      signal: gone.signal,
    });
    if (garbage !== undefined) return garbage.send(response);
    response.statusCode = answer.status;
    for (const name of ['retry-after', 'location'])
      if (answer.headers.has(name)) response.setHeader(name, answer.headers.get(name) ?? '');
    response.setHeader('content-type', answer.headers.get('content-type') ?? '');
    if (!answer.ok) return void response.end(Buffer.from(await answer.arrayBuffer()));
    await cloud.passOn(answer, response);
    response.end();
  }

  const server = createServer((request, response) => {
    // Whatever befalls the answer inside befalls the one outside.
    serve(request, response).catch(() => request.socket.resetAndDestroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: inner.requests,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, inner.close()]);
    },
  };
}

/** With `key` a bearer token is wanted, and without one a signature; `seen` are the headers that came. */
export async function startBedrockServer(
  turns: Script,
  key: string | null,
  seen: IncomingMessage['headers'][] = [],
): Promise<CloudServer> {
  const server = await startCloud(turns, {
    check({ url = '', headers }, body) {
      seen.push(headers);
      const { authorization = '' } = headers;
      const isSigned = SIGNATURE.test(authorization) && /^\d{8}T\d{6}Z$/.test(String(headers['x-amz-date']));
      if (key === null && !isSigned)
        return { status: 403, message: 'The security token included in the request is invalid.' };
      if (key !== null && authorization !== `Bearer ${key}`)
        return { status: 403, message: 'Authentication failed: Please make sure your API Key is valid.' };
      const [, model] = /^\/model\/([^/]+)\/invoke-with-response-stream$/.exec(url) ?? [];
      if (model === undefined) return { status: 404, message: `Unknown operation ${url}` };
      if ('model' in body || 'stream' in body || headers['anthropic-version'] !== undefined)
        return { status: 400, message: 'Malformed input request: extraneous key' };
      return { model: decodeURIComponent(model) };
    },
    async passOn(answer, response) {
      response.setHeader('content-type', 'application/vnd.amazon.eventstream');
      response.flushHeaders();
      const events = answer.body
        ?.pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream());
      for await (const { data } of events ?? []) {
        const bytes = Buffer.from(data).toString('base64');
        response.write(frame(JSON.stringify({ bytes, p: 'abcdef' })));
      }
    },
  });
  const region = { AWS_REGION: 'eu-central-1' };
  const settings = (given: string) => ({
    baseUrl: server.url,
    apiKey: null,
    env: { ...region, AWS_BEARER_TOKEN_BEDROCK: given },
  });
  return { ...server, settings };
}

const SIGNATURE =
  /^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=[a-z0-9;-]*host[a-z0-9;-]*, Signature=[0-9a-f]{64}$/;

/** A message of AWS's event streams: lengths, headers and payload, with two checksums. */
function frame(payload: string): Buffer {
  const headers = Buffer.concat(
    [
      [':event-type', 'chunk'],
      [':content-type', 'application/json'],
      [':message-type', 'event'],
    ].map(([name = '', value = '']) => {
      const size = Buffer.alloc(2);
      size.writeUInt16BE(value.length);
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        size,
        Buffer.from(value),
      ]);
    }),
  );
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + Buffer.byteLength(payload), 0);
  prelude.writeUInt32BE(headers.length, 4);
  const before = Buffer.concat([prelude, checksum(prelude), headers, Buffer.from(payload)]);
  return Buffer.concat([before, checksum(before)]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}

/** The login is that of a workload: a file with a token, which the service for tokens exchanges. */
export async function startVertexServer(turns: Script, key: string): Promise<CloudServer> {
  const folder = temporaryFolder();
  const server = await startCloud(turns, {
    serve({ url, headers }, response) {
      if (url !== '/token') return false;
      const token = {
        access_token: String(headers['x-test-key'] ?? key),
        token_type: 'Bearer',
        expires_in: 3_600,
      };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ ...token, issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' }),
      );
      return true;
    },
    check({ url = '', headers }, body) {
      if (headers.authorization !== `Bearer ${key}`)
        return { status: 401, message: 'Request had invalid authentication credentials.' };
      const [, model] = MODEL_PATH.exec(url) ?? [];
      if (model === undefined) return { status: 404, message: `Not found: ${url}` };
      if ('model' in body || body.stream !== true) return { status: 400, message: 'model: Extra inputs' };
      return { model };
    },
    async passOn(answer, response) {
      response.flushHeaders();
      for await (const chunk of answer.body ?? []) response.write(chunk);
    },
  });
  const settings = (given: string) => {
    const path = join(folder, `${given}.json`);
    const subject = join(folder, 'subject');
    writeFileSync(subject, 'the token of the job');
    const login = {
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${server.url}/token${given === key ? '' : '-of-others'}`,
      credential_source: { file: subject },
    };
    writeFileSync(path, JSON.stringify(login));
    const project = { ANTHROPIC_VERTEX_PROJECT_ID: 'my-project', CLOUD_ML_REGION: 'europe-west1' };
    return {
      baseUrl: `${server.url}/v1`,
      apiKey: null,
      env: { ...project, GOOGLE_APPLICATION_CREDENTIALS: path },
    };
  };
  return { ...server, settings };
}

const MODEL_PATH =
  /^\/v1\/projects\/my-project\/locations\/europe-west1\/publishers\/anthropic\/models\/([\w@.-]+):streamRawPredict$/;
