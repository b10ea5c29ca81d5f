/** Settings and key for a run, from all their sources; all problems are reported at once. */

import { resolve } from 'node:path';
import { unusedPrices } from '../config/contradictions.ts';
import { readKey, readOtherKeys, withoutKey } from '../config/provider-keys.ts';
import { PROJECT_FILE, resolveSettings, settingsWithoutFile } from '../config/resolve.ts';
import {
  type SettingKey,
  type SettingSource,
  type Settings,
  settingEntries,
  settingsOf,
} from '../config/schema.ts';
import { readSettingsFile, type SettingsFileRead } from '../config/settings-file.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import type { TypedFlags } from '../domain/journal/continuation.ts';
import type { ServersGiven } from '../engine/mcp/read-servers.ts';
import type { RunInput } from '../engine/run-input.ts';
import type { Trust } from '../engine/trust/trust.ts';
import type { HostContext } from '../host/context.ts';

/** What the engine gets for a run, or the problems with what was given. */
export type RunInputs = { status: 'ok'; input: RunInput } | { status: 'refused'; problems: Problem[] };

type SettingsRead = { status: 'ok'; settings: Settings } | { status: 'refused'; problems: Problem[] };

/** Settings of a command that does not carry out a plan: from flags and variables, not from a project file. */
export function readSettings(
  { env, folder }: HostContext,
  flags: Readonly<Record<string, unknown>>,
  problems: readonly Problem[],
): SettingsRead {
  const resolved = resolveSettings({ flags, env, folder, file: null });
  const all = [...problems, ...(resolved.status === 'failed' ? resolved.problems : [])];
  return resolved.status === 'failed' || all.length > 0
    ? { status: 'refused', problems: all }
    : { status: 'ok', settings: resolved.settings };
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
  const noPlan = context.isStep === true ? NO_PLAN_INPUT : NO_PLAN;
  const all = [
    ...parts.problems,
    ...(namesTask(parts.settings) ? [] : [problem('ERR_NO_TASK', noPlan)]),
    ...parts.keyless,
    ...parts.othersKeyless,
  ];
  return all.length > 0 ? { status: 'refused', problems: all } : { status: 'ok', input: parts.input };
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
      /** Why there is no key. */
      readonly keyless: Problem[];
      /** The same of the fallback model and of the reviewer, where these are of other providers. */
      readonly othersKeyless: Problem[];
      /** For the engine; without MCP servers if any has a problem. Its secrets are hidden from now on. */
      readonly input: RunInput;
    };

/** `problems` are those already known. A run that `isResumed` reads no project file, which the run could have written. */
export async function readRunParts(
  context: HostContext,
  flags: Readonly<Record<string, unknown>>,
  problems: readonly Problem[],
  isResumed = false,
): Promise<RunParts> {
  const { env, cwd, folder } = context;
  // Whether the project file can be trusted is not for the file itself to decide.
  const without = settingsWithoutFile({ flags, env });
  const trust = without === null ? undefined : await readTrust(context, without);
  const read = isResumed ? NO_FILE : await readFileOf(trust, resolve(cwd, without?.repo ?? ''));
  const file = read.status === 'ok' ? read.file : null;
  const resolved = resolveSettings({ flags, env, folder, file });
  const all = [
    ...problems,
    ...(read.status === 'failed' ? read.problems : []),
    ...(resolved.status === 'failed' ? resolved.problems : []),
  ];
  if (resolved.status === 'failed') return { settings: null, problems: all };
  const { settings, sources } = resolved;
  // Variables that are handed to someone leave the environment of this process, whatever they are called.
  for (const name of settings.setupEnv) context.hide(env[name] ?? '', name);
  const given = await readServers(context, { settings, from: sources.mcp }, trust, isResumed);
  const first = await readKey(context, settings);
  const others = await readOtherKeys(context, settings);
  for (const key of [first.key ?? [], Object.values(others.keys)].flat()) context.hide(key);
  return {
    settings,
    sources,
    problems: [...all, ...(isResumed ? [] : unusedPrices(settings, sources)), ...given.problems],
    hasFile: file !== null,
    keyless: first.problems,
    othersKeyless: others.problems,
    input: {
      ...context,
      settings,
      apiKey: first.key,
      otherKeys: others.keys,
      env: withoutKey(env),
      startNotes: [...(context.startNotes ?? []), ...first.notes, ...others.notes],
      servers: given.servers,
      ...(trust === undefined ? {} : { trust }),
    },
  };
}

const NO_FILE = { status: 'ok', file: null } as const;

/** The MCP servers of the settings and of the file that they name, ready to be started, or what is wrong with them. `isWorkedIn`: a run has worked in the repository. */
async function readServers(
  context: HostContext,
  read: { settings: Settings; from: { from: string; name: string } },
  trust: Trust | undefined,
  isWorkedIn: boolean,
): Promise<ServersGiven> {
  const { mcp, mcpConfig } = read.settings;
  if (mcpConfig === null && Object.keys(mcp).length === 0) return { servers: {}, problems: [] };
  const { readGivenServers } = await import('../engine/mcp/read-servers.ts');
  return readGivenServers(context, read, trust, isWorkedIn);
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
  if (trust.refusal !== null) return Promise.resolve(NO_FILE);
  return readSettingsFile(trust.revision ?? start, PROJECT_FILE);
}

/** Those of the flags that the command takes too, for messages that print it. How a run is shown is not part of it. */
export function typedFor(
  command: 'resume' | 'publish',
  flags: Readonly<Record<string, unknown>>,
  redact: (text: string) => string,
): TypedFlags {
  const printed = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(printed) : typeof value === 'string' ? redact(value) : value;
  const keys = settingsOf(command);
  const taken = settingEntries().filter(
    ({ key, group }) => (group !== 'Output' || key === 'dryRun') && keys.includes(key),
  );
  return Object.fromEntries(
    taken.flatMap(({ flag }) => (flags[flag] === undefined ? [] : [[flag, printed(flags[flag])]])),
  );
}

/** Those of the flags that belong to these settings. */
export function flagsAmong(
  taken: readonly SettingKey[],
  flags: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const names = settingEntries().flatMap(({ key, flag }) => (taken.includes(key) ? [flag] : []));
  return Object.fromEntries(Object.entries(flags).filter(([flag]) => names.includes(flag)));
}
