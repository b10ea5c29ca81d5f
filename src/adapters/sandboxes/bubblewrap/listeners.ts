/**
 * The way from a sandbox to the proxy. The network namespace of a command has no interface but its own loopback, and no program of
 * ours runs there: the runner itself listens on that loopback, as the proxy that the command's variables name, as the services of
 * `--service`, and as a name server that knows no name. Process 1 of the sandbox opens the listeners, before the command
 * begins, and hands them to the runner (native/bubblewrap.c).
 */

import type { ChildProcess } from 'node:child_process';
import { Socket as NameServer } from 'node:dgram';
import type { Server, Socket } from 'node:net';
import type { SandboxNetwork } from '../../../ports/network.ts';

/**
 * Every namespace has all ports to itself; this one is used by nothing well known and is outside the kernel's ephemeral
 * range.
 */
export const PROXY_PORT = 17_128;
/** Where the resolvers of programs ask. */
export const NAMES_PORT = 53;
/** Most connections of one command, most of its names that are reported, and most answers that wait: its programs are hostile. */
const MOST_CONNECTIONS = 512;
const MOST_NAMES = 10_000;
const MOST_ANSWERS = 100;

/** The ports on which the runner listens, in the order in which it gets the listeners. */
export const listenerPorts = ({ services }: SandboxNetwork): number[] => [
  PROXY_PORT,
  ...services.map(({ port }) => port),
];

/** Serves what process 1 of a sandbox hands over. `named`: with a name server, which comes last. `ready`: all of it is here. */
export function serveListeners(network: SandboxNetwork, sandbox: ChildProcess, named: boolean) {
  const listeners: (Server | NameServer)[] = [];
  const connections = new Set<Socket>();
  const all = listenerPorts(network).length + (named ? 1 : 0);
  const ready = new Promise<true>((resolve) => {
    sandbox.on('message', (_, handle) => {
      const listener = handle as unknown as Server | NameServer;
      listener.unref().on('error', () => undefined);
      if (listener instanceof NameServer) serveNames(network, listener);
      else {
        const at = listeners.length;
        listener.on('connection', (one: Socket) => serveConnection(network, at, one, connections));
      }
      listeners.push(listener);
      if (listeners.length === all) resolve(true);
    });
  });
  return {
    ready,
    close() {
      if (sandbox.connected) sandbox.disconnect();
      for (const listener of listeners) listener.close();
      for (const connection of connections) connection.destroy();
    },
  };
}

/**
 * Serves a connection of a command to the port at this place of `listenerPorts`. `connections` are those of the command, for as long as
 * they are open.
 */
export function serveConnection(
  network: SandboxNetwork,
  at: number,
  connection: Socket,
  connections: Set<Socket>,
): void {
  connection.once('close', () => connections.delete(connection));
  if (connections.size >= MOST_CONNECTIONS) {
    connection.destroy();
    return;
  }
  connections.add(connection);
  // A tunnel may be closed in one direction.
  connection.allowHalfOpen = true;
  const service = network.services[at - 1];
  if (service === undefined) network.accept(connection);
  else network.reach(service, connection);
}

function serveNames(network: SandboxNetwork, names: NameServer): void {
  const asked = new Set<string>();
  names.on('message', (query, { port, address }) => {
    const { name, answer } = answerTo(query);
    // Known before the program has its answer, and so before the command ends.
    if (name !== null && !asked.has(name) && asked.size < MOST_NAMES) {
      asked.add(name);
      network.lookedUp(name);
    }
    if (answer !== null && names.getSendQueueCount() < MOST_ANSWERS)
      names.send(answer, port, address, () => undefined);
  });
}

/** The final answer that there is no such name, and the name if it is one; no answer to what is no question. */
export function answerTo(query: Buffer): { name: string | null; answer: Buffer | null } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    if (length > 63) return { name: null, answer: null };
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  // The question ends with its type and class.
  if (query.length < at + 5) return { name: null, answer: null };
  const flags = [0x80 | ((query[2] ?? 0) & 0x79), 0x83];
  const head = [query[0] ?? 0, query[1] ?? 0, ...flags, 0, 1, 0, 0, 0, 0, 0, 0];
  const name = labels.join('.').toLowerCase();
  return {
    name: /^[a-z0-9.-]{1,253}$/.test(name) ? name : null,
    answer: Buffer.concat([Buffer.from(head), query.subarray(12, at + 5)]),
  };
}
