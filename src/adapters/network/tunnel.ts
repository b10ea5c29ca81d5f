/**
 * A tunnel to a permitted host. On port 443 it carries TLS to that very host and nothing else. And the refusal sent to a client, worded to
 * end up in the output of its command.
 */

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { REFUSED } from '../../domain/review/denial-signs.ts';
import { timeoutSignal } from '../../files/time-limit.ts';
import { ALERT, HANDSHAKE, type Hello, readClientHello, recordAt } from './client-hello.ts';
import { codeOf, type NetworkGate, type Passed } from './gate.ts';
import { TunnelRefused, tunnelThrough } from './machine-proxy.ts';

const CONNECT_MS = 30_000;
const HELLO_MS = 30_000;

/**
 * A fatal TLS alert: access denied (RFC 8446 §6). The status line has been sent by then, so this is the only way to answer.
 */
const ACCESS_DENIED = Buffer.from([21, 3, 3, 0, 2, 2, 49]);

/** Connects a client that sent CONNECT with a host that the gate has permitted, until one side ends. */
export async function tunnel(gate: NetworkGate, passed: Passed, inner: Socket, head: Buffer): Promise<void> {
  const outer = await connected(gate, passed, inner);
  if (outer === null) return;
  inner.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (passed.target.port !== 443) {
    gate.reached(passed.target);
    if (head.length > 0) outer.write(head);
    return joinSockets(inner, outer);
  }

  // A name on the list may share its addresses with any other customer of a content network, which distinguishes them by
  // this name.
  const { target } = passed;
  const refused = await helloFor(target.host, inner, outer, head);
  if (refused === null) {
    gate.reached(target);
    return joinSockets(inner, outer);
  }
  if (refused === target.host)
    gate.refuse(refused, 'what was sent to it on port 443 is not TLS that names it');
  else if (refused === NOBODY) gate.failed(target, 'was not spoken to, or did not answer');
  else gate.refuse(refused, `it was asked for in a tunnel to ${target.host}`);
  outer.destroy();
  inner.end(ACCESS_DENIED);
}

/** A connection that ends with the client's; null if there is none, after telling the client. */
async function connected(gate: NetworkGate, passed: Passed, inner: Socket): Promise<Socket | null> {
  const gone = new AbortController();
  inner.once('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, timeoutSignal(CONNECT_MS)]);
  try {
    const outer =
      passed.via === null
        ? await directly(gate, passed, signal)
        : await tunnelThrough(passed.via, passed.target, signal);
    inner.once('close', () => outer.destroy());
    // Reported by its end.
    outer.on('error', () => outer.destroy());
    if (inner.destroyed) outer.destroy();
    return outer;
  } catch (error) {
    const { host, port } = passed.target;
    const why = error instanceof TunnelRefused ? error.message : codeOf(error);
    gate.failed(passed.target, `cannot be reached (${why})`);
    refuseConnection(inner, 502, `${host}:${port} cannot be reached (${why})`);
    return null;
  }
}

async function directly(gate: NetworkGate, passed: Passed, signal: AbortSignal): Promise<Socket> {
  const outer = gate.connect(passed);
  outer.on('error', () => outer.destroy());
  try {
    await once(outer, 'connect', { signal });
    return outer;
  } catch (error) {
    outer.destroy();
    throw error;
  }
}

/** The other side disconnected or took too long: no host was requested. */
const NOBODY = '';

/**
 * Lets the client send its hello to `host`, and another one if the server requests it. Null if everything that
 * follows goes to this host, otherwise the name of the requested one.
 */
async function helloFor(host: string, inner: Socket, outer: Socket, head: Buffer): Promise<string | null> {
  let early = head;
  // A server requests another hello at most once.
  for (const read of [readClientHello, readSecondHello]) {
    const { bytes, found } = await beginning(inner, early, read);
    if (found.status === 'incomplete') return NOBODY;
    if (found.status === 'refused') return host;
    if (found.serverName !== host) return found.serverName;
    outer.write(bytes.subarray(0, found.end));
    early = bytes.subarray(found.end);
    // What the client sends in the meantime waits: only the server's answer shows whether it is another hello.
    const answer = await beginning(outer, NOTHING, (seen) => ({ status: readServerAnswer(seen) }));
    if (answer.found.status === 'incomplete' && answer.bytes.length === 0) return NOBODY;
    const isOver = answer.found.status === 'answered';
    if (!isOver && (answer.found.status !== 'retry' || read === readSecondHello)) return host;
    inner.write(answer.bytes);
    if (isOver) {
      outer.write(early);
      return null;
    }
  }
  return host;
}

const NOTHING = Buffer.alloc(0);

/** `head` and what follows, until `read` has found what it looks for, or the data ends, or time runs out. */
function beginning<Found extends { status: string }>(
  socket: Socket,
  head: Buffer,
  read: (bytes: Buffer) => Found,
): Promise<{ bytes: Buffer; found: Found }> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    let found = read(bytes);
    const settle = () => {
      clearTimeout(timer);
      socket.pause().off('data', take).off('end', settle).off('close', settle);
      resolve({ bytes, found });
    };
    const take = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      found = read(bytes);
      if (found.status !== 'incomplete') settle();
    };
    const timer = setTimeout(settle, HELLO_MS);
    socket.on('data', take).once('end', settle).once('close', settle);
    take(head);
    if (found.status !== 'incomplete') return;
    if (socket.readableEnded || socket.destroyed) settle();
    else socket.resume();
  });
}

/** Copies bytes both ways; when one side has closed, the other receives what is left and is closed too. */
export function joinSockets(inner: Socket, outer: Socket): void {
  for (const [from, to] of [
    [inner, outer],
    [outer, inner],
  ] as const) {
    from.pipe(to);
    from.once('close', () => to.destroySoon());
  }
}

/** `retry`: the server requests another hello. `answered`: it accepted the one it got, or closes with an alert. */
type ServerAnswer = 'incomplete' | 'retry' | 'answered' | 'not TLS';

const WARNING = 1;
const SERVER_HELLO = 2;

/** A server that requests another hello sends this instead of its random bytes: SHA-256 of "HelloRetryRequest". */
const RETRY = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex');
/**
 * Maximum bytes that may precede it: early data from a client, within the limit of most servers, or warnings from a
 * server.
 */
const MAX_BEFORE_BYTES = 20 * 1024;

const RANDOM_AT = 4 + 2;
const ANSWER_BYTES = RANDOM_AT + RETRY.length;

/** Examines the beginning of what a server sends. */
export function readServerAnswer(bytes: Buffer): ServerAnswer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const record = recordAt(bytes, at);
    if (record === 'incomplete' || record === 'not TLS') return record;
    const { type, content, end } = record;
    if (type === ALERT) {
      if (content.length > 0 && content[0] !== WARNING) return 'answered';
    } else if (type === HANDSHAKE) {
      parts.push(content);
      const message = Buffer.concat(parts);
      if (message.length > 0 && message[0] !== SERVER_HELLO) return 'not TLS';
      if (message.length >= ANSWER_BYTES)
        return message.subarray(RANDOM_AT, ANSWER_BYTES).equals(RETRY) ? 'retry' : 'answered';
    } else return 'not TLS';
    if (end > MAX_BEFORE_BYTES) return 'not TLS';
    if (bytes.length < end) return 'incomplete';
    at = end;
  }
}

/** The second hello of a client; `end` is relative to the beginning of `bytes`. */
export function readSecondHello(bytes: Buffer): Hello {
  for (let at = 0; ; ) {
    const record = recordAt(bytes, at);
    if (record === 'incomplete') return { status: 'incomplete' };
    if (record === 'not TLS') return { status: 'refused', problem: 'it does not speak TLS' };
    if (record.type === HANDSHAKE) {
      const hello = readClientHello(bytes.subarray(at));
      return hello.status === 'ok' ? { ...hello, end: at + hello.end } : hello;
    }
    if (record.end > MAX_BEFORE_BYTES)
      return { status: 'refused', problem: "it does not answer its server's HelloRetryRequest" };
    if (bytes.length < record.end) return { status: 'incomplete' };
    at = record.end;
  }
}

/** Most clients print the status line and drop the body, so both contain the reason. */
export function refuseConnection(socket: Duplex, code: number, reason: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const text = textOf(reason);
  const head = [
    `HTTP/1.1 ${code} ${text}`,
    'Content-Type: text/plain',
    `Content-Length: ${text.length + 1}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}\n`);
}

/** Answers a plain HTTP request with a refusal and ends the connection. */
export function refuseRequest(response: ServerResponse, code: number, reason: string): void {
  const text = textOf(reason);
  response.writeHead(code, text, { 'content-type': 'text/plain', connection: 'close' });
  response.end(`${text}\n`);
}

/** Text that is valid in a status line: ASCII on one line. */
function textOf(reason: string): string {
  return `${REFUSED}${reason}`.replace(/[^\x20-\x7e]/g, '.');
}
