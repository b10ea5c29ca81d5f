/** Runs one client on one script and takes its times. */

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Usage as Tokens } from '../src/domain/conversation/conversation.ts';
import type { ScriptedTurn } from '../tests/support/claude-server/script.ts';
import type { Order, Report } from './api-server.ts';
import { type Api, CLAUDE, type Family } from './apis.ts';
import type { Usage } from './usage.ts';

export interface Measured extends Usage {
  /** From the start of the process to its first request. */
  readonly startMs: number;
  /** From the last answer to the end of the process. */
  readonly exitMs: number;
  /** From the start of the process to its end. */
  readonly wallMs: number;
  /** From each answer to the request that follows it: what the client did with the answer. */
  readonly turnMs: readonly number[];
  /** What the API billed. */
  readonly usd: number;
  /** The tokens of that bill; null where the API keeps none. */
  readonly billed: Tokens | null;
}

export interface ApiServer {
  serve(turns: readonly ScriptedTurn[], family: Family, conversations: number): Promise<string>;
  /** Ends what `serve` began and tells what happened. Throws when the client sent what the API would refuse. */
  stop(): Promise<Pick<Report & { type: 'stopped' }, 'exchanges' | 'summaries' | 'usd' | 'billed'>>;
  close(): void;
}

export function forkApiServer(program: string): ApiServer {
  const child = fork(program, { execArgv: [] });
  return {
    async serve(turns, family, conversations) {
      const report = await ask(child, { type: 'start', turns: [...turns], family, conversations });
      if (report.type !== 'started') throw new Error('The API server answered out of turn.');
      return report.url;
    },
    async stop() {
      const report = await ask(child, { type: 'stop' });
      if (report.type !== 'stopped') throw new Error('The API server answered out of turn.');
      if (report.refusals.length > 0) throw new Error(`The API refused: ${report.refusals.join('; ')}`);
      return report;
    },
    close: () => child.disconnect(),
  };
}

/** Runs the client in `root` to its end, with so many conversations that each carry out the script. Throws when it fails. */
export async function measure(
  server: ApiServer,
  command: readonly string[],
  root: string,
  turns: readonly ScriptedTurn[],
  api: Api = CLAUDE,
  conversations = 1,
): Promise<Measured> {
  const own = mkdtempSync(join(tmpdir(), 'patchsmith-bench-run-'));
  const url = await server.serve(turns, api.family, conversations);
  const [program = '', ...args] = [...command, 'Carry out the script.', ...api.flags(url)];
  const usageFile = join(own, 'usage.json');
  const { PATH } = process.env;
  const env = {
    PATH,
    // That of the user has other runs, which are looked at once an hour.
    HOME: own,
    RUNNER_TEMP: own,
    ...api.env(url),
    BENCH_USAGE: usageFile,
  };
  const startedAt = steadyMs();
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [exitCode] = await once(child, 'exit');
  const endedAt = steadyMs();
  const { exchanges, summaries, usd, billed } = await server.stop();
  const [first, last] = [exchanges[0], exchanges.at(-1)];
  if (exitCode !== 0 || !first || !last || exchanges.length !== conversations * turns.length + summaries) {
    throw new Error(
      `${program} ${args.join(' ')} ended with ${exitCode} after ${exchanges.length} requests:\n${said}`,
    );
  }
  const usage: Usage = JSON.parse(readFileSync(usageFile, 'utf8'));
  rmSync(own, { recursive: true, force: true });
  return {
    ...usage,
    usd,
    billed,
    startMs: first.arrived - startedAt,
    exitMs: endedAt - last.answered,
    wallMs: endedAt - startedAt,
    turnMs: exchanges.slice(1).map(({ arrived }, at) => arrived - (exchanges[at]?.answered ?? 0)),
  };
}

async function ask(child: ChildProcess, order: Order): Promise<Report> {
  const answer = once(child, 'message');
  child.send(order);
  const [report] = await answer;
  return report as Report;
}

function steadyMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
