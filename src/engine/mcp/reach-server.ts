/** One MCP server: started where it belongs, connected to, and its tools chosen. */

import { realpathSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { ServerConnection } from '../../adapters/mcp/connect.ts';
import type { ConnectOptions } from '../../adapters/mcp/server-line.ts';
import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import { isWithin } from '../../domain/changes/path.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { type ChosenTool, chosenTools } from '../../domain/mcp/chosen-tools.ts';
import type { FilledEntry } from '../../domain/mcp/server-spec.ts';
import { redactedStrings } from '../../domain/secrets/redact.ts';
import { shellWord } from '../../domain/shell-word.ts';
import type { Sandbox } from '../../ports.ts';
import { sandboxSettings, writableMounts } from '../open/sandbox-settings.ts';
import type { Session } from '../session.ts';
import type { ServerPlaces } from './hub.ts';

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
interface WantedServer extends Pick<ConnectOptions, 'onGone'> {
  readonly name: string;
  readonly entry: FilledEntry;
}

type Named = readonly [name: string, entry: FilledEntry];
type ProgramEntry = Extract<FilledEntry, { by: 'stdio' }>;
type NamedProgram = readonly [name: string, entry: ProgramEntry];

/** Why a server would hand out what it is given, or run what it must not; null when none does. */
export function whyNotStarted(
  { input: { trust, settings } }: Pick<Session, 'input'>,
  { sandbox, root }: Pick<ServerPlaces, 'sandbox' | 'root'>,
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

/**
 * Why a program is not started once the model has worked in the work tree; null if it may be. A file that its command line names
 * may be the model's by now, and so may any code that a server in the sandbox loads.
 */
function whyNotAgain(
  session: Pick<Session, 'input'>,
  place: ServerPlaces,
  [name, entry]: NamedProgram,
): string | null {
  if (entry.isContained && entry.secrets.length > 0)
    return 'it has secret variables, and in the sandbox it could run what the model has written to the work tree since its first start; with sandbox: false it is started again';
  return whyNotStarted(session, place, [[name, entry]]);
}

/** Starts the server and connects to it. If that fails, whatever was started is ended. */
export async function reachServer(
  session: Session,
  place: ServerPlaces,
  { name, entry, onGone }: WantedServer,
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
          fetch: session.asked.recording(
            'mcp',
            await fetchByEnvironment(env, { plainHttp: entry.url.startsWith('http:') }),
          ),
        }
      : { by: 'stdio', run: await programOf(session, place, [name, entry]) };
  const { connectMs, tools } = entry;
  const connected = await connectServer({
    way,
    version,
    connectMs,
    signal: session.interrupt,
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
  { sandbox, scratchDir, root, own }: ServerPlaces,
  { isContained }: ProgramEntry,
): Promise<Sandbox> {
  if (isContained) return sandbox;
  const { openOutside } = await import('../../adapters/sandboxes/outside.ts');
  const outside = await openOutside({ ...sandboxSettings(input), scratchDir, root });
  own(() => outside.close());
  return outside;
}

/** Longer than any run. */
const NO_TIMEOUT_MS = Number.MAX_SAFE_INTEGER;

async function programOf(
  session: Session,
  place: ServerPlaces,
  [name, entry]: NamedProgram,
): Promise<Extract<ConnectOptions['way'], { by: 'stdio' }>['run']> {
  const { command, args, env } = entry;
  const sandbox = await sandboxOf(session, place, entry);
  let isFirst = !place.isResumed;
  const script = `exec ${[command, ...args].map(shellWord).join(' ')}`;
  const variables = Object.keys(env).length === 0 ? {} : { env };
  return async (talk, signal) => {
    const why = isFirst ? null : whyNotAgain(session, place, [name, entry]);
    isFirst = false;
    if (why !== null) throw new Error(why);
    return sandbox.run({ script, timeoutMs: NO_TIMEOUT_MS, signal, talk, ...variables });
  };
}

/** How a program is started. */
interface ProgramLine {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The word or variable that names it, or null. Folders that a server only works on do not count. */
export function codeInTree(root: string, { command, args, env }: ProgramLine): string | null {
  const isPath = command.includes('/');
  const words = [...(isPath ? [command] : []), ...args];
  const file = words.find((word) => namesOf(root, word).some((name) => kindIn(root, name) === 'file'));
  if (file !== undefined) return file;
  if (isPath && !command.startsWith('/')) return command;
  return workplaceOf(root, args) ?? packageOf(root, command, args) ?? variableOf(root, env);
}

/** The word itself, what follows the sign in `--option=value`, and each place in the work tree that a script or an address in it names. */
function namesOf(root: string, word: string): string[] {
  const sign = word.indexOf('=');
  const value = word.startsWith('-') && sign > 0 ? [word.slice(sign + 1)] : [];
  const places = word.split(/[\s"'`;,|&()<>{}=]|file:\/\//).filter((part) => part.startsWith(`${root}/`));
  return [word, ...value, ...places];
}

/** Uses the resolved path, since a link outside may lead into the work tree. */
function kindIn(root: string, name: string): 'file' | 'folder' | null {
  const place = resolve(root, name);
  try {
    const stat = statSync(place, { throwIfNoEntry: false });
    if (stat === undefined || !(isWithin(place, root) || isWithin(realpathSync(place), root))) return null;
    if (stat.isFile()) return 'file';
    return stat.isDirectory() ? 'folder' : null;
  } catch (error) {
    // The word is not a path, for example because it has a thousand characters.
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

/** Options with which programs go to a folder, whose settings, scripts and programs they then use. */
const GOES_TO =
  /^(?:-C|--(?:prefix|dir|cwd|chdir|directory|project|project-dir|working-directory|manifest-path))$/;

/** The word that makes a program work in a folder of the work tree, or null. */
function workplaceOf(root: string, args: readonly string[]): string | null {
  for (const [at, word] of args.entries()) {
    // In a script.
    const entered = /(?:^|[\s;&|(])cd\s+["']?(\/[^\s"';&|)]*)/.exec(word)?.[1];
    if (entered !== undefined && kindIn(root, entered) === 'folder') return word;
    const [option = '', ...value] = word.split('=');
    const short = /^-C(.+)$/.exec(word)?.[1];
    const place =
      short ?? (GOES_TO.test(option) ? (value.length > 0 ? value.join('=') : args[at + 1]) : undefined);
    if (place?.startsWith('/') && kindIn(root, place) === 'folder') return word;
  }
  return null;
}

/** Programs that take a folder for a program: `node FOLDER` runs its index.js, `python FOLDER` its __main__.py. */
const INTERPRETERS = /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*)$/;
/** Options whose value is not a path, but the name of a module, or a script. */
const NAMED_OTHERWISE = ['-m', '-c', '-e', '-p', '--eval', '--print'];

/** Up to the program, a folder would be one, or have some of its code; whatever follows is the program's own. */
function packageOf(root: string, command: string, args: readonly string[]): string | null {
  if (!INTERPRETERS.test(basename(command))) return null;
  for (const word of args) {
    if (NAMED_OTHERWISE.includes(word)) return null;
    if (namesOf(root, word).some((name) => name.startsWith('/') && kindIn(root, name) === 'folder'))
      return word;
    if (word.startsWith('/') && statSync(word, { throwIfNoEntry: false })?.isFile()) return null;
  }
  return null;
}

/** Variables by which programs find code. */
const CODE_VARIABLES =
  /^(?:PATH|NODE_OPTIONS|NODE_PATH|PYTHONPATH|PYTHONSTARTUP|PYTHONHOME|PERL5LIB|PERL5OPT|RUBYLIB|RUBYOPT|BASH_ENV|ENV|CLASSPATH|JAVA_TOOL_OPTIONS|LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT)$/;

function variableOf(root: string, env: ProgramLine['env']): string | null {
  for (const [name, value] of Object.entries(env)) {
    if (!CODE_VARIABLES.test(name)) continue;
    const places = value.split(/[\s:=,]+/).filter((place) => place.startsWith('/'));
    // The value may be a secret.
    if (places.some((place) => isWithin(resolve(place), root))) return name;
  }
  return null;
}
