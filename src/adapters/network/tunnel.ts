/** A tunnel to a host that may be reached. On port 443 it carries TLS to that very host and nothing else. */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { timeoutSignal } from '../../host/timeout-signal.ts';
import { readClientHello } from './client-hello.ts';
import { codeOf, type NetworkGate, type Passed } from './gate.ts';
import { readSecondHello, readServerAnswer } from './hello-retry.ts';
import { refuseConnection } from './refusal.ts';

const CONNECT_MS = 30_000;
const HELLO_MS = 30_000;

/** A fatal alert of TLS: access denied (RFC 8446 §6). Its status line has been sent by then, so this is all one can say. */
const ACCESS_DENIED = Buffer.from([21, 3, 3, 0, 2, 2, 49]);

/** Connects a client that sent CONNECT with a host that the gate has let through, until one side ends. */
export async function tunnel(gate: NetworkGate, passed: Passed, inner: Socket, head: Buffer): Promise<void> {
  const outer = gate.connect(passed);
  inner.once('close', () => outer.destroy());
  // Told by its end.
  outer.on('error', () => outer.destroy());
  try {
    await once(outer, 'connect', { signal: timeoutSignal(CONNECT_MS) });
  } catch (error) {
    outer.destroy();
    const { host, port } = passed.target;
    refuseConnection(inner, 502, `${host}:${port} cannot be reached (${codeOf(error)})`);
    return;
  }
  inner.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (passed.target.port !== 443) {
    if (head.length > 0) outer.write(head);
    return join(inner, outer);
  }

  // A name on the list may share its addresses with any other customer of a content network, which tells them apart by this.
  const { target } = passed;
  const refused = await helloFor(target.host, inner, outer, head);
  if (refused === null) return join(inner, outer);
  if (refused !== NOBODY) gate.refuse(refused);
  outer.destroy();
  inner.end(ACCESS_DENIED);
}

/** Somebody went away, or took too long: there is no host that was asked for. */
const NOBODY = '';

/**
 * Lets the client say hello to `host`, and once more where the server asks for that. Null when all that follows goes to this
 * host, else the name of the one that was asked for.
 */
async function helloFor(host: string, inner: Socket, outer: Socket, head: Buffer): Promise<string | null> {
  let early = head;
  // A server asks for another hello once at most.
  for (const read of [readClientHello, readSecondHello]) {
    const { bytes, found } = await beginning(inner, early, read);
    if (found.status === 'incomplete') return NOBODY;
    if (found.status === 'refused') return host;
    if (found.serverName !== host) return found.serverName;
    outer.write(bytes.subarray(0, found.end));
    early = bytes.subarray(found.end);
    // What the client sends meanwhile waits: it may be another hello, of which only the server's answer tells.
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

/** `head` and what follows, until `read` has found what it looks for, or nothing more comes, or not in time. */
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

/** Carries bytes both ways; when one side has gone, the other gets what is left and goes, too. */
function join(inner: Socket, outer: Socket): void {
  for (const [from, to] of [
    [inner, outer],
    [outer, inner],
  ] as const) {
    from.pipe(to);
    from.once('close', () => to.destroySoon());
  }
}
