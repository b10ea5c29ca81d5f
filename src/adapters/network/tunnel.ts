/** A tunnel to a host that may be reached. On port 443 it carries TLS to that very host and nothing else. */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type Hello, readClientHello } from './client-hello.ts';
import { codeOf, type Gate, type Passed } from './gate.ts';
import { refuseConnection } from './refusal.ts';

const CONNECT_MS = 30_000;
const HELLO_MS = 30_000;

/** A fatal alert of TLS: access denied (RFC 8446 §6). Its status line has been sent by then, so this is all one can say. */
const ACCESS_DENIED = Buffer.from([21, 3, 3, 0, 2, 2, 49]);

export async function tunnel(gate: Gate, passed: Passed, inner: Socket, head: Buffer): Promise<void> {
  const outer = gate.connect(passed);
  inner.once('close', () => outer.destroy());
  // Told by its end.
  outer.on('error', () => outer.destroy());
  try {
    await once(outer, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
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
  const { bytes, hello } = await firstBytes(inner, head);
  if (hello.status === 'ok' && hello.serverName === passed.target.host) {
    outer.write(bytes);
    return join(inner, outer);
  }
  if (hello.status !== 'incomplete')
    gate.refuse(hello.status === 'ok' ? hello.serverName : passed.target.host);
  outer.destroy();
  inner.end(ACCESS_DENIED);
}

/** `head` and what follows, until the hello is complete, or cannot be one, or does not come. */
function firstBytes(socket: Socket, head: Buffer): Promise<{ bytes: Buffer; hello: Hello }> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const settle = (hello: Hello) => {
      clearTimeout(timer);
      socket.pause().off('data', take).off('end', onEnd).off('close', onEnd);
      resolve({ bytes, hello });
    };
    const onEnd = () => settle({ status: 'incomplete' });
    const take = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const hello = readClientHello(bytes);
      if (hello.status !== 'incomplete') settle(hello);
    };
    const timer = setTimeout(onEnd, HELLO_MS);
    socket.on('data', take).once('end', onEnd).once('close', onEnd);
    take(head);
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
