/** Plays turns through the real loop. */

import { createReplayProvider } from '../../../src/adapters/providers/replay.ts';
import { AgenticLoop } from '../../../src/agent/agentic-loop.ts';
import type { RunAction, RunEvent, RunStarted } from '../../../src/domain/run/events.ts';
import type { Limits, StopReason } from '../../../src/domain/run/limits.ts';
import { startOf } from '../../../src/domain/run/state.ts';
import type { TurnRequest } from '../../../src/ports.ts';
import { openRealParts, type RealParts } from '../files/real-parts.ts';
import { limits, started } from './events.ts';

/** How the loop ended, and all it said. */
export interface Ended {
  readonly types: string[];
  readonly events: RunEvent[];
  readonly stop: StopReason | undefined;
  readonly requests: TurnRequest[];
  readonly loop: AgenticLoop;
}

/** What differs from a plain run. */
export interface Asked {
  readonly start?: Partial<RunStarted>;
  readonly limits?: Partial<Limits>;
  readonly interrupt?: AbortController;
  /** Sees every event before the loop goes on. */
  onEvent?(event: RunEvent, parts: RealParts): void | Promise<void>;
}

/** Plays these turns through the real loop, executor, workspace and sandbox. */
export async function play(turns: readonly RunAction[], asked: Asked = {}): Promise<Ended> {
  const parts = await openRealParts({ 'a.txt': 'old\n' });
  const recorded = createReplayProvider({
    name: 'test',
    text: turns.map((event) => JSON.stringify(event)).join('\n'),
  });
  const requests: TurnRequest[] = [];
  const interrupt = asked.interrupt ?? new AbortController();
  const first = {
    ...started,
    limits: { ...limits, ...asked.limits },
    ...asked.start,
    seq: 1,
    at: Date.now(),
  };
  const loop = new AgenticLoop(startOf(first), {
    ...parts,
    provider: {
      name: 'replay',
      ...recorded,
      complete(request) {
        requests.push(request);
        return recorded.complete(request);
      },
    },
    interrupt: interrupt.signal,
  });
  const events: RunEvent[] = [];
  for await (const event of loop.run()) {
    events.push(event);
    await asked.onEvent?.(event, parts);
  }
  const last = events.at(-1);
  return {
    types: events.map(({ type }) => type),
    events,
    stop: last?.type === 'run.stopped' ? last.stop : undefined,
    requests,
    loop,
  };
}
