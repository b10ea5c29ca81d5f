/** Settings and key for a run, from all their sources; all problems are reported at once. */

import { resolve } from 'node:path';
import { unusedPrices } from '../config/contradictions.ts';
import { didYouMean } from '../config/did-you-mean.ts';
import { readKey, readOtherKeys } from '../config/provider-keys.ts';
import { PROJECT_FILE, resolveSettings, type SettingSource, settingsWithoutFile } from '../config/resolve.ts';
import type { SettingKey, Settings } from '../config/schema.ts';
import { readSettingsAt, readSettingsFile, type SettingsFileRead } from '../config/settings-file.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import type { FilledEntries } from '../domain/mcp/server-spec.ts';
import type { Warning } from '../domain/warnings/warning.ts';
import type { ServersGiven } from '../engine/mcp/read-servers.ts';
import type { Trust } from '../engine/trust/trust.ts';
import type { HostContext } from '../host/context.ts';

/** Settings and key for a command that uses a model, or the problems with them. */
export type RunInputs =
  | {
      status: 'ok';
      settings: Settings;
      apiKey: string | null;
      otherKeys: Readonly<Record<string, string>>;
      notes: Warning[];
      trust: Trust | undefined;
      servers: FilledEntries;
    }
  | { status: 'refused'; problems: Problem[] };

/** `given`: settings that a flag or a variable gives, and not a default. `from`: where MCP servers are named. */
type SettingsRead =
  | { status: 'ok'; settings: Settings; given: SettingKey[]; from: { from: string; name: string } }
  | { status: 'refused'; problems: Problem[] };

/** Settings of a command that does not carry out a plan: from flags and variables, not from a project file. */
export function readSettings(
  { env, folder }: HostContext,
  flags: Readonly<Record<string, unknown>>,
  problems: readonly Problem[],
): SettingsRead {
  const resolved = resolveSettings({ flags, env, folder, file: null, nearest: didYouMean });
  const all = [...problems, ...(resolved.status === 'failed' ? resolved.problems : [])];
  return resolved.status === 'failed' || all.length > 0
    ? { status: 'refused', problems: all }
    : {
        status: 'ok',
        settings: resolved.settings,
        given: givenIn(resolved.sources),
        from: resolved.sources.mcp,
      };
}

function givenIn(sources: Readonly<Record<SettingKey, { from: string }>>): SettingKey[] {
  return (Object.keys(sources) as SettingKey[]).filter((key) => sources[key].from !== 'default');
}

const NO_PLAN = 'there is no plan: pass --plan FILE, --plan - (stdin), --message TEXT or --plan-from-issue N';
const NO_PLAN_INPUT =
  'there is no plan: set one of the inputs plan, plan-file, plan-from-issue and plan-from-comment';

/** `problems` are those already known. */
export async function readRunInputs(
  context: HostContext,
  flags: Readonly<Record<string, unknown>>,
  problems: readonly Problem[],
): Promise<RunInputs> {
  const parts = await readRunParts(context, flags, problems);
  if (parts.settings === null) return { status: 'refused', problems: parts.problems };
  const { settings, trust, key, otherKeys, notes, servers } = parts;
  const noPlan = context.isStep === true ? NO_PLAN_INPUT : NO_PLAN;
  const all = [
    ...parts.problems,
    ...(namesTask(settings) ? [] : [problem('ERR_NO_TASK', noPlan)]),
    ...parts.keyless,
  ];
  return all.length > 0
    ? { status: 'refused', problems: all }
    : { status: 'ok', settings, apiKey: key, otherKeys, notes, trust, servers };
}

/** The inputs of a run, each with its problems. Without valid settings nothing else is known. */
export type RunParts =
  | { readonly settings: null; readonly problems: Problem[] }
  | {
      readonly settings: Settings;
      readonly sources: Readonly<Record<SettingKey, SettingSource>>;
      /** In the words of the command line and in the project file. */
      readonly problems: Problem[];
      /** There is a project file. */
      readonly hasFile: boolean;
      readonly key: string | null;
      /** By the name of the provider: of the fallback model and of the reviewer, where these are others. */
      readonly otherKeys: Readonly<Record<string, string>>;
      /** Why there is no key. */
      readonly keyless: Problem[];
      readonly notes: Warning[];
      readonly trust: Trust | undefined;
      /** MCP servers; empty if there are none, or if any has a problem. */
      readonly servers: FilledEntries;
    };

/** `problems` are those already known. */
export async function readRunParts(
  context: HostContext,
  flags: Readonly<Record<string, unknown>>,
  problems: readonly Problem[],
): Promise<RunParts> {
  const { env, cwd, folder } = context;
  // Whether the project file can be trusted is not for the file itself to decide.
  const without = settingsWithoutFile({ flags, env, nearest: didYouMean });
  const trust = without === null ? undefined : await readTrust(context, without);
  const read = await readFileOf(trust, resolve(cwd, without?.repo ?? ''));
  const file = read.status === 'ok' ? read.file : null;
  const resolved = resolveSettings({ flags, env, folder, file, nearest: didYouMean });
  const all = [
    ...problems,
    ...(read.status === 'failed' ? read.problems : []),
    ...(resolved.status === 'failed' ? resolved.problems : []),
  ];
  if (resolved.status === 'failed') return { settings: null, problems: all };
  const { settings, sources } = resolved;
  hideNamed(context, settings);
  const given = await readServers(context, { settings, from: sources.mcp }, trust);
  const first = await readKey(context, settings);
  const others = await readOtherKeys(context, settings);
  return {
    settings,
    sources,
    problems: [...all, ...unusedPrices(settings, sources), ...given.problems],
    hasFile: file !== null,
    key: first.key,
    otherKeys: others.keys,
    keyless: [...first.problems, ...others.problems],
    notes: [...first.notes, ...others.notes],
    trust,
    servers: given.servers,
  };
}

/** The MCP servers of the settings and of the file that they name, ready to be started, or what is wrong with them. `isWorkedIn`: a run has worked in the repository. */
export async function readServers(
  context: HostContext,
  read: Pick<Extract<SettingsRead, { status: 'ok' }>, 'settings' | 'from'>,
  trust: Trust | undefined,
  isWorkedIn = false,
): Promise<ServersGiven> {
  const { mcp, mcpConfig } = read.settings;
  if (mcpConfig === null && Object.keys(mcp).length === 0) return { servers: {}, problems: [] };
  const { readGivenServers } = await import('../engine/mcp/read-servers.ts');
  return readGivenServers(context, read, trust, isWorkedIn);
}

/** Takes variables that are handed to someone out of the environment of this process, whatever they are called. */
export function hideNamed({ env, hide }: HostContext, { setupEnv }: Settings): void {
  for (const name of setupEnv) hide(env[name] ?? '', name);
}

/** Whether the settings contain a task. */
export function namesTask({ plan, message, planFromIssue, planFromComment, continued }: Settings): boolean {
  return (
    continued !== 'never' || [plan, message, planFromIssue, planFromComment].some((given) => given !== null)
  );
}

/** Undefined when there is no reason to check: outside GitHub Actions, with a plan and rules of one's own. */
export async function readTrust(context: HostContext, settings: Settings): Promise<Trust | undefined> {
  const { planFromIssue, planFromComment, rulesFrom, continued } = settings;
  const ofOthers =
    [planFromIssue, planFromComment, rulesFrom].some((given) => given !== null) || continued !== 'never';
  if (context.env.GITHUB_ACTIONS !== 'true' && !ofOthers) return undefined;
  const { findTrust } = await import('../engine/trust/trust.ts');
  const trust = await findTrust(context, settings);
  for (const secret of trust.credentials.secrets) context.hide(secret);
  return trust;
}

/** `start` is in the repository. */
function readFileOf(trust: Trust | undefined, start: string): Promise<SettingsFileRead> {
  if (trust === undefined) return readSettingsFile(start, PROJECT_FILE);
  // The settings of a run that will not take place do not matter.
  if (trust.refusal !== null) return Promise.resolve({ status: 'ok', file: null });
  return trust.revision === null
    ? readSettingsFile(start, PROJECT_FILE)
    : readSettingsAt(trust.revision, PROJECT_FILE);
}
