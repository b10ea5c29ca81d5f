/** One MCP server: started where it belongs, connected to, and its tools chosen. */

import type { ServerConnection } from '../../adapters/mcp/connect.ts';
import type { ConnectOptions } from '../../adapters/mcp/server-line.ts';
import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { type ChosenTool, chosenTools } from '../../domain/mcp/chosen-tools.ts';
import type { FilledEntry } from '../../domain/mcp/server-spec.ts';
import { redactedStrings } from '../../domain/secrets/redact.ts';
import type { Sandbox } from '../../ports.ts';
import { shellWord } from '../../tools/result.ts';
import { sandboxSettings } from '../open/sandbox-settings.ts';
import type { Session } from '../session.ts';
import { codeInTree } from './code-in-tree.ts';
import { writableMounts } from './writable-mounts.ts';

/** A connected server, or why there is none. */
export type Reached =
  | {
      readonly status: 'ok';
      readonly connection: ServerConnection;
      readonly chosen: readonly ChosenTool[];
      readonly notes: readonly string[];
    }
  | Failed;

/** A server, and the callbacks for news about it. */
export interface WantedServer extends Pick<ConnectOptions, 'onChange' | 'onGone'> {
  readonly name: string;
  readonly entry: FilledEntry;
}

/** Where servers run. */
export interface ServerPlace {
  readonly sandbox: Sandbox;
  readonly scratchDir: string;
  readonly root: string;
  readonly own: (close: () => unknown) => void;
}

type Named = readonly [name: string, entry: FilledEntry];

/** Why a server would hand out what it is given, or run what it must not; null when none does. */
export function whyNotStarted(
  { input: { trust, settings } }: Pick<Session, 'input'>,
  { sandbox, root }: Pick<ServerPlace, 'sandbox' | 'root'>,
  entries: readonly Named[],
): string | null {
  for (const [name, entry] of entries) {
    if (entry.by === 'http') continue;
    const hasSecrets = entry.secrets.length > 0;
    if (hasSecrets && sandbox.level === 'none')
      return `The MCP server ${name} has secret variables, and commands run without a sandbox, so the model's could read them. Set up a sandbox: patchsmith doctor says what is missing.`;
    if (hasSecrets && entry.isContained && trust?.isOutsiders === true)
      return `The MCP server ${name} has secret variables, and an outsider's code is checked out, which it might run or leak them to. Start it with sandbox: false, or without them.`;
    if (entry.isContained) continue;
    const inTree = codeInTree(root, entry);
    if (inTree !== null)
      return `The MCP server ${name} would run ${JSON.stringify(inTree)} outside the sandbox, but nothing in the work tree is run there. Use a program on PATH or an absolute path outside the work tree.`;
    for (const { asked, places } of writableMounts(settings)) {
      const inMount = places.map((folder) => codeInTree(folder, entry)).find((word) => word !== null);
      if (inMount !== undefined)
        return `The MCP server ${name} would run ${JSON.stringify(inMount)} outside the sandbox, but commands can write to it (--mount ${asked}). Use a copy elsewhere, or mount the folder without :rw.`;
    }
  }
  return null;
}

/** Starts the server and connects to it. If that fails, whatever was started is ended. */
export async function reachServer(
  session: Session,
  place: ServerPlace,
  { name, entry, onChange, onGone }: WantedServer,
): Promise<Reached> {
  const { settings, version, env } = session.input;
  const { connectServer } = await import('../../adapters/mcp/connect.ts');
  const { schemaChecker } = await import('../../adapters/mcp/schema-check.ts');
  const way: ConnectOptions['way'] =
    entry.by === 'http'
      ? {
          by: 'http',
          url: entry.url,
          headers: entry.headers,
          fetch: await fetchByEnvironment(env, { plainHttp: entry.url.startsWith('http:') }),
        }
      : { by: 'stdio', run: programOf(entry, await sandboxOf(session, place, entry)) };
  const { connectMs, tools } = entry;
  const connected = await connectServer({
    way,
    version,
    connectMs,
    signal: session.interrupt,
    onChange,
    onGone,
  });
  if (connected.status === 'failed') return connected;
  const rules = { server: name, tools, isReadOnly: settings.readOnly, isSchema: schemaChecker() };
  const chosen = chosenTools(connected, rules);
  // A server's texts may contain the secrets that it was given.
  const shown = (tool: ChosenTool): ChosenTool => ({
    ...tool,
    description: session.redact(tool.description),
    inputSchema: { ...(redactedStrings(tool.inputSchema, session.redact) as ChosenTool['inputSchema']) },
  });
  if (chosen.status === 'ok')
    return { status: 'ok', connection: connected, chosen: chosen.tools.map(shown), notes: chosen.notes };
  await connected.close();
  return failed(chosen.message);
}

async function sandboxOf(
  { input }: Session,
  { sandbox, scratchDir, root, own }: ServerPlace,
  { isContained }: Extract<FilledEntry, { by: 'stdio' }>,
): Promise<Sandbox> {
  if (isContained) return sandbox;
  const { openOutside } = await import('../../adapters/sandboxes/outside.ts');
  const outside = await openOutside({ ...sandboxSettings(input), scratchDir, root });
  own(() => outside.close());
  return outside;
}

/** Longer than any run. */
const NO_TIMEOUT_MS = Number.MAX_SAFE_INTEGER;

function programOf(
  { command, args, env }: Extract<FilledEntry, { by: 'stdio' }>,
  sandbox: Sandbox,
): Extract<ConnectOptions['way'], { by: 'stdio' }>['run'] {
  const script = `exec ${[command, ...args].map(shellWord).join(' ')}`;
  const variables = Object.keys(env).length === 0 ? {} : { env };
  return (talk, signal) => sandbox.run({ script, timeoutMs: NO_TIMEOUT_MS, signal, talk, ...variables });
}
