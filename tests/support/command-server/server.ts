/** The other side of `relay.mjs`: checks every request of the protocol, answers from a script, and breaks as programs do. */

import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, Script, ScriptedTurn } from '../claude-server/script.ts';
import { validatorOf } from '../published.ts';

type Fields = Record<string, unknown>;

export interface CommandServer {
  /** The command line of a program that this server answers through. */
  readonly line: string;
  /** All requests so far, with why one was refused by the rules. */
  readonly requests: readonly { body: Fields; refused: string | null }[];
  close(): Promise<void>;
}

const validate = validatorOf('provider-command');

export async function startCommandServer(turns: Script, key: string): Promise<CommandServer> {
  const requests: { body: Fields; refused: string | null }[] = [];
  const sockets = new Set<Socket>();
  const sent = new Set<string>();
  let accepted = 0;

  async function answer(socket: Socket, given: string, line: string): Promise<void> {
    const body = JSON.parse(line) as Fields;
    const refused = whyRefused(body, sent);
    requests.push({ body, refused });
    const fail = (kind: string, message: string, retryAfter?: string) =>
      void socket.end(
        `${JSON.stringify({ type: 'failure', kind, message, ...(retryAfter ? { retryAfterSeconds: Number(retryAfter) } : {}) })}\n`,
      );
    if (given !== key) return fail('authentication', `${given} is not the key`);
    if (refused !== null) return fail('invalid_request', refused);
    const index = accepted++;
    const turn = typeof turns === 'function' ? turns(body, index) : turns[index];
    if (turn === undefined) return fail('invalid_request', 'The script is over.');
    const { fault } = turn;
    if (fault?.kind === 'http')
      return fail(KINDS[fault.status] ?? 'invalid_request', fault.message ?? 'scripted', fault.retryAfter);
    const { lines, reply } = linesOf(turn, index);
    if (fault === undefined) for (const block of reply.content) sent.add(JSON.stringify(block));
    await send(socket, lines, fault);
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    let read = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      read += String(chunk);
      const [given, line, rest] = read.split('\n');
      if (given === undefined || line === undefined || rest === undefined) return;
      read = '';
      void answer(socket, given, line);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const relay = new URL('relay.mjs', import.meta.url).pathname;
  return {
    line: `'${process.execPath}' "${relay}" ${port}`,
    requests,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const KINDS: Readonly<Record<number, string>> = { 429: 'rate_limit', 503: 'outage' };

/** Null for a request that fits the published schema, and whose calls and results belong together. */
function whyRefused(body: Fields, sent: ReadonlySet<string>): string | null {
  if (!validate({ request: body })) return JSON.stringify(validate.errors);
  let due: unknown[] = [];
  for (const { role, content } of body.messages as { role: string; content: Fields[] }[]) {
    if (role === 'user') {
      const answered = content.flatMap(({ type, callId }) => (type === 'tool_result' ? [callId] : []));
      if (JSON.stringify(answered) !== JSON.stringify(due)) return `${due.join()} got ${answered.join()}`;
      due = [];
      continue;
    }
    const changed = content.find((block) => !sent.has(JSON.stringify(block)));
    if (changed !== undefined) return `A block that was not sent: ${JSON.stringify(changed)}`;
    due = content.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
  }
  return due.length > 0 ? `No results for ${due.join()}` : null;
}

function linesOf(turn: ScriptedTurn, index: number): { lines: object[]; reply: { content: object[] } } {
  const { text, calls = [], stop, outputTokens = 7 } = turn;
  const reply = {
    type: 'answer',
    content: [
      { type: 'memory', of: 'this program', index },
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...calls.map((call, at) => ({
        type: 'tool_use',
        id: call.id ?? `call_${index}_${at}`,
        name: call.name,
        input: call.rawInput ?? call.input ?? {},
      })),
    ],
    ...(turn.uncounted ? {} : { usage: { input: 20, output: outputTokens } }),
    ...(stop === undefined ? {} : { stop, stopDetail: stop === 'refusal' ? (text ?? '') : '' }),
  };
  const pieces = text?.match(/[\s\S]{1,5}/gu) ?? [];
  return {
    lines: [{ type: 'alive' }, ...pieces.map((piece) => ({ type: 'text', text: piece })), reply],
    reply,
  };
}

async function send(socket: Socket, lines: readonly object[], fault: Fault | undefined): Promise<void> {
  if (fault?.kind === 'garbage') return void socket.end('plain\n');
  const before = fault !== undefined && 'afterEvents' in fault ? (fault.afterEvents ?? 0) : lines.length;
  for (const line of lines.slice(0, before)) socket.write(`${JSON.stringify(line)}\n`);
  if (fault?.kind === 'stall') return;
  if (fault?.kind === 'malformed') socket.write('{"type": "ans');
  if (fault?.kind === 'reset') {
    await delay(50);
    socket.resetAndDestroy();
  } else socket.end();
}
