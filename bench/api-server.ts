/**
 * The local APIs in a process of their own, so that their work is not the client's. The parent sends a script and gets an address;
 * it sends `stop` and gets the times of all requests.
 */

import diagnostics from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Usage } from '../src/domain/conversation/conversation.ts';
import { conversations } from '../tests/support/claude-server/conversations.ts';
import type { Script, ScriptedTurn } from '../tests/support/claude-server/script.ts';
import { type ClaudeServer, startClaudeServer } from '../tests/support/claude-server/server.ts';
import { asksForSummary } from '../tests/support/claude-server/summaries.ts';
import { startGeminiServer } from '../tests/support/gemini-server/server.ts';
import { startOpenAiServer } from '../tests/support/openai-server/server.ts';
import { BENCH_KEY, type Family, GEMINI_MODEL } from './apis.ts';

/** `conversations`: as many play the script side by side, each from its beginning; with Claude's API alone if there are several. */
export type Order =
  | { type: 'start'; turns: ScriptedTurn[]; family: Family; conversations: number }
  | { type: 'stop' };
export type Report =
  | { type: 'started'; url: string }
  /** `summaries` were asked for besides the turns; `usd` and `billed` are the whole bill, which only the Claude API keeps. */
  | {
      type: 'stopped';
      exchanges: Exchange[];
      refusals: string[];
      summaries: number;
      usd: number;
      billed: Usage | null;
    };

/** When a request's head arrived and when its answer had gone out: milliseconds of the machine's steady clock. */
export interface Exchange {
  readonly arrived: number;
  answered: number;
}

/** The requests so far, with why one was refused. */
interface Asked {
  readonly requests: readonly { readonly refused: string | { readonly message: string } | null }[];
}

const NONE = { url: '', requests: [], close: async () => {} };
let server: Pick<ClaudeServer, 'url' | 'close'> & Asked & Partial<Pick<ClaudeServer, 'bill'>> = NONE;
let exchanges: Exchange[] = [];
let summaries = 0;
/** 1,000 tokens. */
const SUMMARY = 'What was done, file by file, and what is left of it. '.repeat(76).slice(0, 4_000);
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
      summaries = 0;
      const turns = [...order.turns];
      const several = conversations(...Array.from({ length: order.conversations }, () => order.turns));
      server = await serverOf(order.family, (request) => {
        if (order.conversations > 1) return several(request);
        if (order.family !== 'claude' || !asksForSummary(request))
          return turns.shift() ?? { text: 'The script is over.' };
        summaries += 1;
        return { text: SUMMARY };
      });
      tell({ type: 'started', url: server.url });
      return;
    }
    case 'stop': {
      const refusals = server.requests.flatMap(({ refused }) =>
        refused ? [typeof refused === 'string' ? refused : refused.message] : [],
      );
      const bill = server.bill?.();
      const [usd, billed] = [bill?.usd ?? Number.NaN, bill?.usage ?? null];
      await server.close();
      tell({ type: 'stopped', exchanges, refusals, summaries, usd, billed });
    }
  }
});
process.on('disconnect', () => process.exit());

function serverOf(family: Family, turns: Script): Promise<typeof server> {
  switch (family) {
    case 'claude':
      return startClaudeServer({ turns });
    case 'responses':
    case 'chat':
      // Models that reason take another field for the length of an answer there, which costs a request.
      return startOpenAiServer({ turns, apiKey: BENCH_KEY, isReasoning: family === 'responses' });
    case 'gemini':
      return startGeminiServer({ turns, apiKey: BENCH_KEY, model: GEMINI_MODEL });
  }
}

function tell(report: Report): void {
  process.send?.(report);
}

function steadyMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
