import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readSecondHello, readServerAnswer } from '../../../src/adapters/network/tunnel.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';
import { listening } from '../../support/http/listening.ts';
import { served } from './served.ts';

const RETRY = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex');

function record(type: number, content: Buffer | number[]): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([type, 3, 3, bytes.length >> 8, bytes.length & 255]), bytes]);
}

function serverHello(random: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from([3, 3]), random, Buffer.alloc(8)]);
  return Buffer.concat([Buffer.from([2, 0, 0, body.length]), body]);
}

/** A hello with nothing in it but the names. */
function clientHello(...names: string[]): Buffer {
  const listed = names.map((name) => Buffer.concat([Buffer.from([0, 0, name.length]), Buffer.from(name)]));
  const list = Buffer.concat(listed);
  const extension = Buffer.concat([Buffer.from([0, 0, 0, list.length + 2, 0, list.length]), list]);
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    Buffer.from([0, 0, 2, 0x13, 1, 1, 0, 0, extension.length]),
    extension,
  ]);
  return record(22, Buffer.concat([Buffer.from([1, 0, body.length >> 8, body.length & 255]), body]));
}

const CHANGE_CIPHER_SPEC = record(20, [1]);
const EARLY_DATA = record(23, Buffer.alloc(100));

/** A client in a tunnel to good.example, which is at `port`. */
async function tunnelTo(port: number) {
  const proxy = await served({
    allowed: ['good.example'],
    resolve: async () => ['127.0.0.1'],
    mayConnect: () => true,
    connect: () => connect(port, '127.0.0.1'),
  });
  const asking = request({ socketPath: proxy.socket, method: 'CONNECT', path: 'good.example:443' });
  asking.end();
  const [, socket] = (await once(asking, 'connect')) as [unknown, Socket];
  onTestFinished(() => void socket.destroy());
  return { proxy, socket };
}

/**
 * A server that answers each hello with the next of these, and is heard by `said`; a client that sends `first`, waits for an
 * answer, and sends `then`. Resolves when one of them has hung up, or the server has answered all.
 */
async function conversation(answers: Buffer[], first: Buffer, then: Buffer) {
  let said = Buffer.alloc(0);
  let enough: () => void = () => {};
  const hasEnough = new Promise<void>((resolve) => {
    enough = resolve;
  });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('close', enough);
    socket.on('data', (bytes) => {
      said = Buffer.concat([said, bytes]);
      const answer = answers.shift();
      if (answer) socket.write(answer);
      else enough();
    });
  });
  const { proxy, socket } = await tunnelTo(await listening(server));
  socket.on('error', () => {});
  socket.on('close', enough);
  socket.once('data', () => socket.write(then));
  socket.write(first);
  await hasEnough;
  return { said, refused: proxy.refused().map(({ host, times }) => ({ host, times })) };
}

const good = clientHello('good.example');
const evil = clientHello('evil.example');
const retry = Buffer.concat([record(22, serverHello(RETRY)), CHANGE_CIPHER_SPEC]);

describe('a server that asks for another hello', () => {
  test('gets it when it is for the same host, with what comes before it', async () => {
    const second = Buffer.concat([CHANGE_CIPHER_SPEC, good]);
    const { said, refused } = await conversation([retry], good, second);
    expect([said.equals(Buffer.concat([good, second])), refused]).toEqual([true, []]);
  });

  test.each([
    ['another host', evil, 'evil.example'],
    ['another host, after early data', Buffer.concat([EARLY_DATA, CHANGE_CIPHER_SPEC, evil]), 'evil.example'],
    ['another host, in small records', inSmallRecords(evil), 'evil.example'],
    ['two hosts', clientHello('good.example', 'evil.example'), 'good.example'],
    ['no TLS', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'good.example'],
  ])('gets none that is for %s', async (_what, second, host) => {
    const { said, refused } = await conversation([retry], good, second);
    expect(said.toString('hex')).toBe(good.toString('hex'));
    expect(refused).toEqual([{ host, times: 1 }]);
  });

  test('gets none that was sent before it asked', async () => {
    const { said, refused } = await conversation([retry], Buffer.concat([good, evil]), Buffer.alloc(0));
    expect(said.toString('hex')).toBe(good.toString('hex'));
    expect(refused).toEqual([{ host: 'evil.example', times: 1 }]);
  });

  test('may ask once', async () => {
    const { said, refused } = await conversation([retry, retry], good, good);
    expect(said.toString('hex')).toBe(Buffer.concat([good, good]).toString('hex'));
    expect(refused).toEqual([{ host: 'good.example', times: 1 }]);
  });
});

function inSmallRecords(hello: Buffer): Buffer {
  const body = hello.subarray(5);
  return Buffer.concat(Array.from(body, (byte) => record(22, [byte])));
}

test('a real client and a real server that have to begin again come together', async () => {
  const folder = tempFolder();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  execFileSync('openssl', [...made, '-subj', '/CN=good.example', '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  let answer = Buffer.alloc(0);
  const server = createTlsServer(
    { key: readFileSync(key), cert: readFileSync(cert), ecdhCurve: 'P-384', minVersion: 'TLSv1.3' },
    (socket) => socket.pipe(socket),
  );
  const port = await listening(server);
  const relay = createServer((inner) => {
    const outer = connect(port, '127.0.0.1');
    outer.on('data', (bytes) => {
      answer = Buffer.concat([answer, bytes]);
    });
    outer.on('error', () => inner.destroy());
    inner.on('error', () => outer.destroy());
    inner.pipe(outer).pipe(inner);
  });
  const { socket, proxy } = await tunnelTo(await listening(relay));
  const client = connectTls({
    socket,
    servername: 'good.example',
    ecdhCurve: 'X25519:P-384',
    rejectUnauthorized: false,
  });
  await once(client, 'secureConnect');
  client.write('hello');
  const [echo] = await once(client, 'data');
  expect([String(echo), proxy.refused(), readServerAnswer(answer)]).toEqual(['hello', [], 'retry']);
  client.destroy();
});

test('the answer of a server is recognised from its first bytes, whole or in small records', () => {
  const random = serverHello(Buffer.alloc(32, 1));
  expect(readServerAnswer(record(22, random))).toBe('answered');
  expect(readServerAnswer(record(22, serverHello(RETRY)))).toBe('retry');
  expect(readServerAnswer(inSmallRecords(record(22, serverHello(RETRY))))).toBe('retry');
  expect(readServerAnswer(Buffer.concat([record(21, [1, 112]), retry]))).toBe('retry');
  expect(readServerAnswer(record(21, [2, 112]))).toBe('answered');
  for (const bytes of [record(22, [0, 0, 0, 0]), EARLY_DATA, Buffer.from('HTTP/1.1 400'), Buffer.alloc(9)])
    expect(readServerAnswer(bytes)).toBe('not TLS');
  const warnings = Buffer.concat(Array.from({ length: 4_000 }, () => record(21, [1, 0])));
  expect(readServerAnswer(warnings)).toBe('not TLS');
  const whole = record(22, serverHello(RETRY));
  for (let length = 0; length < 5 + 38; length += 1)
    expect(readServerAnswer(whole.subarray(0, length)), String(length)).toBe('incomplete');
});

test('every beginning of a second hello waits for the rest', () => {
  const bytes = Buffer.concat([CHANGE_CIPHER_SPEC, EARLY_DATA, evil]);
  for (let length = 0; length < bytes.length; length += 1)
    expect(readSecondHello(bytes.subarray(0, length)), String(length)).toEqual({ status: 'incomplete' });
  expect(readSecondHello(bytes)).toEqual({ status: 'ok', serverName: 'evil.example', end: bytes.length });
  const early = Buffer.concat(Array.from({ length: 300 }, () => EARLY_DATA));
  expect(readSecondHello(early)).toMatchObject({ status: 'refused' });
});
