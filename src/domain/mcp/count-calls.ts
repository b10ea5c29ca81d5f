/** How often the servers of a run were called, from its events. */

import type { FailureReason } from '../conversation/tool.ts';
import type { RunEvent } from '../run/events.ts';
import type { ServerTool } from './server-tool.ts';

/** Calls of one server, and those that it did not answer well. */
export interface CallCount {
  readonly calls: number;
  readonly failed: number;
}

/** Calls that failed for these reasons were never sent. */
const NOT_SENT: readonly FailureReason[] = ['unknown_tool', 'cut_off', 'too_many_calls', 'budget', 'policy'];

/** Takes in the events of a run in their order. */
export function callCounter(tools: readonly ServerTool[]) {
  const servers = new Map(tools.map(({ name, server }) => [name, server]));
  const underWay = new Map<string, string>();
  const counts = new Map<string, CallCount>();
  return {
    accept(event: RunEvent): void {
      if (event.type === 'tool.started') {
        const server = servers.get(event.call.name);
        if (server !== undefined) underWay.set(event.call.id, server);
      }
      if (event.type !== 'tool.completed') return;
      const { call, outcome } = event;
      const server = underWay.get(call);
      underWay.delete(call);
      if (server === undefined || (outcome.status === 'failed' && NOT_SENT.includes(outcome.reason))) return;
      const { calls, failed } = counts.get(server) ?? NONE;
      counts.set(server, { calls: calls + 1, failed: failed + (outcome.status === 'failed' ? 1 : 0) });
    },
    of: (server: string): CallCount => counts.get(server) ?? NONE,
  };
}

const NONE: CallCount = { calls: 0, failed: 0 };
