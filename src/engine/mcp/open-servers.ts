/** The MCP servers of a run, if it has any: only then is the code that connects to them loaded. */

import type { ServerTool } from '../../domain/mcp/chosen-tools.ts';
import type { Stopped } from '../../domain/run/outcome.ts';
import type { OpenServers } from '../ready.ts';
import type { Session } from '../session.ts';
import type { ServerPlaces } from './reach-server.ts';

/**
 * Connects to all servers at the same time. Stops if a required one is not available; for others there is a warning. A resumed run has
 * the tools that are `recorded`, whatever the servers offer now.
 */
export async function openServersOf(
  session: Session,
  places: ServerPlaces,
  recorded: readonly ServerTool[] | null = null,
): Promise<OpenServers | Stopped> {
  const entries = Object.entries(session.input.servers ?? {});
  if ((recorded ?? entries).length === 0) return NO_SERVERS;
  const { openAll } = await import('./servers.ts');
  return openAll(session, places, entries, recorded);
}

/** Of a run that has none, or ends before it needs them. */
export const NO_SERVERS: OpenServers = {
  status: 'ok',
  tools: [],
  recorded: [],
  ready: { servers: () => [], restServers: async () => undefined },
};
