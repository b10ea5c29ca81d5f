/** One MCP server: whether it may be started, started where it belongs, and its tools chosen. */

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConnectOptions, ServerConnection } from '../../adapters/mcp/connect.ts';
import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import { programIn } from '../../adapters/sandboxes/command/shell.ts';
import { leadsInto } from '../../adapters/sandboxes/host-files.ts';
import { outsidePath } from '../../adapters/sandboxes/visible/toolchains.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { type ChosenTool, chosenTools } from '../../domain/mcp/chosen-tools.ts';
import type { FilledEntry } from '../../domain/mcp/server-spec.ts';
import { redactedStrings } from '../../domain/secrets/redact.ts';
import { shellWord } from '../../domain/shell-word.ts';
import { orNone } from '../../files/failures.ts';
import type { Sandbox } from '../../ports.ts';
import { sandboxSettings, writableMounts } from '../open/sandbox-settings.ts';
import type { Session } from '../session.ts';

/** Where servers run, and who ends them. */
export interface ServerPlaces {
  readonly sandbox: Sandbox;
  readonly scratchDir: string;
  /** Of the work tree. */
  readonly root: string;
  /** Has this called when the run has ended, before the sandbox is closed. */
  readonly own: (close: () => unknown) => void;
}

type ProgramEntry = Extract<FilledEntry, { by: 'stdio' }>;

/** Longer than any run. */
const NO_TIMEOUT_MS = Number.MAX_SAFE_INTEGER;

/** Why a server would hand out what it is given, or run what it must not; null when it may be started. */
export function whyNotStarted(
  { input: { trust, settings, env } }: Pick<Session, 'input'>,
  { sandbox, root }: Pick<ServerPlaces, 'sandbox' | 'root'>,
  [name, entry]: readonly [name: string, entry: FilledEntry],
): string | null {
  if (entry.by === 'http') return null;
  const hasSecrets = entry.secrets.length > 0;
  if (hasSecrets && sandbox.level === 'none')
    return `The MCP server ${name} has secret variables, and commands run without a sandbox, so the model's could read them. Set up a sandbox: patchsmith doctor says what is missing.`;
  if (hasSecrets && entry.isContained && trust?.isOutsiders === true)
    return `The MCP server ${name} has secret variables, and an outsider's code is checked out, which it might run or leak them to. Start it with sandbox: false, or without them.`;
  if (entry.isContained) return null;
  const path = outsidePath(env, root);
  const inTree = namedIn(root, entry, path);
  if (inTree !== null)
    return `The MCP server ${name} would be started outside the sandbox with ${JSON.stringify(inTree)} in the work tree, where a model may have written it. Start it in the sandbox, or with what is outside the work tree: nothing in the work tree is run there.`;
  for (const { asked, places } of writableMounts(settings)) {
    const inMount = places.map((folder) => namedIn(folder, entry, path)).find((word) => word !== null);
    if (inMount !== undefined)
      return `The MCP server ${name} would run ${JSON.stringify(inMount)} outside the sandbox, but commands can write to it (--mount ${asked}). Use a copy elsewhere, or mount the folder without :rw.`;
  }
  return null;
}

/** Starts the server and connects to it. If that fails, whatever was started is ended. */
export async function reachServer(
  session: Session,
  place: ServerPlaces,
  { name, entry, onGone }: { name: string; entry: FilledEntry } & Pick<ConnectOptions, 'onGone'>,
): Promise<{ status: 'ok'; connection: ServerConnection; chosen: ChosenTool[]; notes: string[] } | Failed> {
  const { settings, version, env } = session.input;
  const { connectServer, schemaChecker } = await import('../../adapters/mcp/connect.ts');
  const way: ConnectOptions['way'] =
    entry.by === 'http'
      ? {
          ...{ by: 'http', url: entry.url, headers: entry.headers },
          fetch: session.asked.recording(
            'mcp',
            await fetchByEnvironment(env, { plainHttp: entry.url.startsWith('http:') }),
          ),
        }
      : { by: 'stdio', run: await programOf(session, place, name, entry) };
  const { connectMs, tools } = entry;
  const connected = await connectServer({ way, version, connectMs, signal: session.interrupt, onGone });
  if (connected.status === 'failed') return connected;
  const { connection } = connected;
  const chosen = chosenTools(connection.tools, {
    ...{ server: name, tools, isReadOnly: settings.readOnly },
    isSchema: schemaChecker(),
  });
  if (chosen.status === 'failed') {
    await connection.close();
    return failed(chosen.message);
  }
  // A server's texts may contain the secrets that it was given.
  const shown = chosen.tools.map((tool) => ({
    ...tool,
    description: session.redact(tool.description),
    inputSchema: { ...(redactedStrings(tool.inputSchema, session.redact) as ChosenTool['inputSchema']) },
  }));
  return { status: 'ok', connection, chosen: shown, notes: chosen.notes };
}

async function programOf(
  session: Session,
  place: ServerPlaces,
  name: string,
  entry: ProgramEntry,
): Promise<Extract<ConnectOptions['way'], { by: 'stdio' }>['run']> {
  const { command, args, env, isContained, secrets } = entry;
  let { sandbox } = place;
  if (!isContained) {
    const { openOutside } = await import('../../adapters/sandboxes/none.ts');
    const { scratchDir, root } = place;
    const outside = await openOutside({ ...sandboxSettings(session.input), scratchDir, root });
    place.own(() => outside.close());
    sandbox = outside;
  }
  const script = `exec ${[command, ...args].map(shellWord).join(' ')}`;
  const variables = Object.keys(env).length === 0 ? {} : { env };
  let isFirst = !session.isResumed;
  return async (talk, signal) => {
    // Once the model has worked in the work tree, a file that the command line names may be the model's, and so may any code that a
    // server in the sandbox loads.
    const why =
      isContained && secrets.length > 0
        ? 'it has secret variables, and in the sandbox it could run what the model has written to the work tree since its first start; with sandbox: false it is started again'
        : whyNotStarted(session, place, [name, entry]);
    if (!isFirst && why !== null) throw new Error(why);
    isFirst = false;
    return sandbox.run({ script, timeoutMs: NO_TIMEOUT_MS, signal, talk, ...variables });
  };
}

/**
 * The word or variable of a program's start that names something in a folder which commands can write to; null for none. Whether it is
 * code, a folder with code, or data is not known for every program. `path` lists the folders in
 * which a program without a slash is looked for.
 */
export function namedIn(
  folder: string,
  { command, args, env }: Pick<ProgramEntry, 'command' | 'args' | 'env'>,
  path: readonly string[],
): string | null {
  if (command.includes('/') && !command.startsWith('/')) return command;
  const names = (text: string) => placesIn(text).some((place) => isIn(folder, place));
  const program = command.includes('/') ? command : programIn(env.PATH?.split(':') ?? path, command);
  if (program !== null && names(program)) return command;
  // The value of a variable may be a secret.
  return args.find(names) ?? Object.keys(env).find((name) => names(env[name] ?? '')) ?? null;
}

/** What may be a path in a word: all of it, and each part between the signs of options, lists, scripts and addresses. */
function placesIn(word: string): string[] {
  return [word, ...word.split(/[\s"'`;:,|&()<>{}=]|file:\/\/|^-\w(?=\/)/)].filter((part) => part !== '');
}

/** An absolute path counts whether or not it exists, another one if it is a file there. Links are followed, and those on the way count. */
function isIn(folder: string, name: string): boolean {
  const place = resolve(folder, name);
  const found = orNone(() => {
    const counts = name.startsWith('/') || statSync(place, { throwIfNoEntry: false })?.isFile() === true;
    return counts && leadsInto(folder, place);
  });
  // Null for a word that is not a path, for example because it has a thousand characters.
  return found ?? false;
}
