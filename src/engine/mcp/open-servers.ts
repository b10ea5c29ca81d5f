/** The MCP servers of a run, if it has any: what it takes to reach them is loaded only then. */

import type { ServerTool } from '../../domain/mcp/server-tool.ts';
import type { Stopped } from '../ready.ts';
import type { Session } from '../session.ts';
import type { OpenServers, ServerPlaces } from './server-parts.ts';

/** Reaches all servers side by side. Stops where a required one is not there; of others a warning tells. */
export async function openServersOf(session: Session, places: ServerPlaces): Promise<OpenServers | Stopped> {
  const entries = Object.entries(session.input.servers ?? {});
  if (entries.length === 0) return NO_SERVERS;
  const { openAll } = await import('./servers.ts');
  return openAll(session, places, entries);
}

/** The same for a resumed run, whose tools are the recorded ones, whatever the servers offer by now. */
export async function reopenServersOf(
  session: Session,
  recorded: readonly ServerTool[],
  places: ServerPlaces,
): Promise<OpenServers | Stopped> {
  if (recorded.length === 0) return NO_SERVERS;
  const { reopenAll } = await import('./servers.ts');
  return reopenAll(session, recorded, places);
}

/** Of a run that has none, or ends before it needs them. */
export const NO_SERVERS: OpenServers = {
  status: 'ok',
  tools: [],
  recorded: [],
  used: () => [],
  counter: { accept: () => undefined, close: () => undefined },
};
