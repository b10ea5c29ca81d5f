/** The MCP servers of a run: reached before its first request, and ended with it. */

import { type ChosenTool, definitionSize, MAX_DEFINITIONS } from '../../domain/mcp/chosen-tools.ts';
import type { FilledEntry } from '../../domain/mcp/server-spec.ts';
import type { ServerTool } from '../../domain/mcp/server-tool.ts';
import { refused, type Stopped, stopped } from '../../domain/run/outcome.ts';
import { formatNumber, listed, pluralize } from '../../domain/text/words.ts';
import { serverTool } from '../../tools/server-tool.ts';
import { interruptedOutcome } from '../ready.ts';
import type { Session } from '../session.ts';
import { ask, type Hub, type OpenServers, reasonText, type ServerPlaces, useOf } from './hub.ts';
import { type Reached, reachServer, whyNotStarted } from './reach-server.ts';

/** `recorded` are the tools of a resumed run, null for a new one. A server that it had and is not configured today stops the run. */
export async function openAll(
  session: Session,
  places: ServerPlaces,
  configured: readonly (readonly [name: string, entry: FilledEntry])[],
  recorded: readonly ServerTool[] | null,
): Promise<OpenServers | Stopped> {
  const had = recorded && new Set(recorded.map(({ server }) => server));
  const entries = configured.filter(([name]) => had === null || had.delete(name));
  const missing = [...(had ?? [])];
  if (missing.length > 0)
    return refused(
      'ERR_MCP_SERVER',
      `The run had the MCP ${missing.length === 1 ? 'server' : 'servers'} ${listed(missing, 5)}, which a run directory cannot start. Repeat its --mcp or --mcp-config.`,
    );
  const refusal = whyNotStarted(session, places, entries);
  if (refusal !== null) return refused('ERR_MCP_SERVER', refusal);
  const reached = await Promise.all(
    entries.map(([name, entry]) => openServer(session, places, { name, entry })),
  );
  const hubs = await withinBounds(reached);
  if (session.interrupt.aborted) return stopped(interruptedOutcome(session));
  for (const { name, entry, state } of hubs) {
    if (state.status !== 'failed') continue;
    if (entry.isRequired)
      return refused(
        'ERR_MCP_SERVER',
        `The MCP server ${name} is required, but not available: ${reasonText(state.reason)}.`,
      );
    session.warn(
      'WARN_MCP_SERVER_MISSING',
      `The MCP server ${name} is not available, and the run continues without it: ${reasonText(state.reason)}.`,
    );
  }
  const there = hubs.filter(({ state }) => state.status !== 'failed');
  const names = there.map(({ name, chosen }) => `${name} (${pluralize(chosen.length, 'tool')})`);
  if (there.length > 0) session.progress.note(`MCP servers: ${names.join(', ')}`);
  const offered = hubs.flatMap(({ chosen }) => chosen);
  const gone = recorded?.filter((tool) => !offered.some(({ name }) => name === tool.name)) ?? [];
  if (gone.length > 0) {
    const list = gone.map(({ name }) => name);
    const said = `Tools of MCP servers are no longer available, and calls to them will fail: ${listed(list, 10)}.`;
    session.warn('WARN_MCP_TOOLS_GONE', said);
  }
  return opened(hubs, recorded);
}

async function openServer(
  session: Session,
  places: ServerPlaces,
  { name, entry }: { name: string; entry: FilledEntry },
): Promise<Hub> {
  const isContained = entry.by === 'stdio' && entry.isContained && places.sandbox.level !== 'none';
  let hub: Hub | null = null;
  let hasMissed = false;
  const onUnreached = (why: string) => {
    if (hasMissed) return;
    hasMissed = true;
    session.warn(
      'WARN_MCP_SERVER_GONE',
      `The MCP server ${name} could not be reached for a call, and may be gone: ${reasonText(why)}.`,
    );
  };
  const about = { name, entry, isContained, unreached: null, onUnreached };
  const reached: Reached = await reachServer(session, places, {
    name,
    entry,
    onGone(why) {
      if (hub?.state.status !== 'connected') return;
      hub.state = { ...hub.state, status: 'ended', reason: why };
      session.warn(
        'WARN_MCP_SERVER_GONE',
        `The MCP server ${name} is gone, and calls to its tools will fail: ${reasonText(why)}.`,
      );
    },
  });
  if (reached.status === 'failed')
    return { ...about, chosen: [], state: { status: 'failed', reason: reached.message } };
  const { connection, chosen, notes } = reached;
  places.own(() => connection.close());
  for (const note of notes)
    session.warn('WARN_MCP_TOOL_LEFT_OUT', `MCP server ${name}: ${reasonText(note)}.`);
  hub = { ...about, chosen, state: { status: 'connected', connection } };
  return hub;
}

/** The servers in their order, without those whose tools take more room than is left for descriptions. */
async function withinBounds(hubs: readonly Hub[]): Promise<readonly Hub[]> {
  let size = 0;
  const kept: Hub[] = [];
  for (const hub of hubs) {
    const own = definitionSize(hub.chosen);
    if (size + own <= MAX_DEFINITIONS || hub.state.status === 'failed') {
      size += own;
      kept.push(hub);
      continue;
    }
    await hub.state.connection.close();
    const reason = `its tools take ${formatNumber(own)} characters to describe, and those of all servers together may take ${formatNumber(MAX_DEFINITIONS)}; name the tools that the run needs in its list tools`;
    kept.push({ ...hub, chosen: [], state: { status: 'failed', reason } });
  }
  return kept;
}

/** With the tools of a record under their names and in their order, whatever the servers offer by now. */
function opened(hubs: readonly Hub[], recorded: readonly ServerTool[] | null): OpenServers {
  const offered = hubs.flatMap(({ chosen }) => chosen);
  const tools = recorded ?? offered.map(({ name, server, tool }) => ({ name, server, tool }));
  const bind = (tool: ServerTool, text?: ChosenTool) => {
    const hub = hubs.find(({ name }) => name === tool.server);
    return serverTool(tool, (_, input, signal) => ask(hub, tool, { input, signal }), text);
  };
  return {
    status: 'ok',
    tools: recorded === null ? offered.map((tool) => bind(tool, tool)) : recorded.map((tool) => bind(tool)),
    recorded: tools,
    ready: {
      servers: () => hubs.map(useOf),
      async restServers() {
        const resting = hubs.map(({ state }) => state.status === 'connected' && state.connection.rest());
        await Promise.all(resting);
      },
    },
  };
}
