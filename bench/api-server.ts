/**
 * The local Claude API in a process of its own, so that its work is not the client's. The parent sends a script and gets
 * an address; it sends `stop` and gets the times of all requests.
 */

import diagnostics from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ScriptedTurn } from '../tests/support/claude-server/script.ts';
import { type ClaudeServer, startClaudeServer } from '../tests/support/claude-server/server.ts';

export type Order = { type: 'start'; turns: ScriptedTurn[] } | { type: 'stop' };
export type Report =
  | { type: 'started'; url: string }
  | { type: 'stopped'; exchanges: Exchange[]; refusals: string[] };

/** When a request's head arrived and when its answer had gone out: milliseconds of the machine's steady clock. */
export interface Exchange {
  readonly arrived: number;
  answered: number;
}

let server: ClaudeServer | null = null;
let exchanges: Exchange[] = [];
const open = new WeakMap<object, Exchange>();

diagnostics.subscribe('http.server.request.start', (message) => {
  const { response } = message as { request: IncomingMessage; response: ServerResponse };
  const exchange: Exchange = { arrived: steadyMs(), answered: 0 };
  exchanges.push(exchange);
  open.set(response, exchange);
  // A broken answer is never finished, but closed.
  response.once('close', () => {
    if (exchange.answered === 0) exchange.answered = steadyMs();
  });
});
diagnostics.subscribe('http.server.response.finish', (message) => {
  const exchange = open.get((message as { response: ServerResponse }).response);
  if (exchange) exchange.answered = steadyMs();
});

process.on('message', async (order: Order) => {
  switch (order.type) {
    case 'start': {
      exchanges = [];
      server = await startClaudeServer({ turns: order.turns });
      tell({ type: 'started', url: server.url });
      return;
    }
    case 'stop': {
      const refusals = (server?.requests ?? []).flatMap(({ refused }) => (refused ? [refused.message] : []));
      await server?.close();
      tell({ type: 'stopped', exchanges, refusals });
    }
  }
});
process.on('disconnect', () => process.exit());

function tell(report: Report): void {
  process.send?.(report);
}

function steadyMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
