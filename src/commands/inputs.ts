/** Settings and key for a run, from all their sources; all problems are reported at once. */

import { resolve } from 'node:path';
import { KEY_VARIABLES, type ProviderEntry, providerNamed } from '../adapters/providers/registry.ts';
import { didYouMean } from '../config/did-you-mean.ts';
import { readApiKey } from '../config/dotenv.ts';
import { PROJECT_FILE, resolveSettings, type Settings, settingsWithoutFile } from '../config/resolve.ts';
import type { SettingKey } from '../config/schema.ts';
import { readSettingsAt, readSettingsFile, type SettingsFileRead } from '../config/settings-file.ts';
import type { Trust } from '../engine/trust/trust.ts';
import type { HostContext } from '../host/context.ts';

/** Settings and key for a command that drives a model, or what is wrong with them. */
export type RunInputs =
  | { status: 'ok'; settings: Settings; apiKey: string | null; notes: string[]; trust: Trust | undefined }
  | { status: 'refused'; problems: string[] };

/** `given`: settings that a flag or a variable gives, and not a default. */
type SettingsRead =
  | { status: 'ok'; settings: Settings; given: SettingKey[] }
  | { status: 'refused'; problems: string[] };

/** Settings of a command that does not carry out a plan: from flags and variables, not from a project file. */
export function readSettings(
  { env }: HostContext,
  flags: Readonly<Record<string, unknown>>,
  problems: readonly string[],
): SettingsRead {
  const resolved = resolveSettings({ flags, env, file: null, nearest: didYouMean });
  const all = [...problems, ...(resolved.status === 'failed' ? resolved.problems : [])];
  return resolved.status === 'failed' || all.length > 0
    ? { status: 'refused', problems: all }
    : { status: 'ok', settings: resolved.settings, given: givenIn(resolved.sources) };
}

function givenIn(sources: Readonly<Record<SettingKey, { from: string }>>): SettingKey[] {
  return (Object.keys(sources) as SettingKey[]).filter((key) => sources[key].from !== 'default');
}

/** The key of a provider, or why it is missing; neither key nor problem if the provider needs none. */
export async function readKey(
  { env, cwd, isStep = false, federation }: HostContext,
  name: string,
): Promise<{ key: string | null; notes: string[]; problems: string[] }> {
  const provider = providerNamed(name);
  const variable = provider?.keyVariable ?? null;
  const isLoggedIn = federation !== undefined && provider?.federation !== null;
  if (provider === null || variable === null || isLoggedIn) return { key: null, notes: [], problems: [] };
  const { key, notes } = await readApiKey(env, cwd, variable);
  const lacking = isStep ? noKeyInput(provider, variable) : noKey(variable);
  return { key, notes, problems: key === null ? [...notes, lacking] : [] };
}

function noKey(variable: string): string {
  return `there is no ${variable}: set it in the environment, or in a .env in this folder that git does not track; patchsmith demo needs none`;
}

function noKeyInput({ meaning }: ProviderEntry, variable: string): string {
  return `there is no key of ${meaning}: api-key is empty, and so is ${variable}. Is the secret set, and does this event receive it? Pull requests from forks and from Dependabot do not`;
}

const NO_PLAN =
  'there is no plan: give one with --plan FILE, --plan - (stdin), --message TEXT or --plan-from-issue N';
const NO_PLAN_INPUT =
  'there is no plan: give one of the inputs plan, plan-file, plan-from-issue and plan-from-comment';

/** `problems` are those already known. */
export async function readRunInputs(
  edge: HostContext,
  flags: Readonly<Record<string, unknown>>,
  problems: readonly string[],
): Promise<RunInputs> {
  const parts = await readRunParts(edge, flags, problems);
  if (parts.settings === null) return { status: 'refused', problems: parts.problems };
  const { settings, trust, key, notes } = parts;
  const noPlan = edge.isStep === true ? NO_PLAN_INPUT : NO_PLAN;
  const all = [...parts.problems, ...(namesTask(settings) ? [] : [noPlan]), ...parts.keyless];
  return all.length > 0
    ? { status: 'refused', problems: all }
    : { status: 'ok', settings, apiKey: key, notes, trust };
}

/** What a run is given, each part with what is wrong with it. Without valid settings nothing else is known. */
export type RunParts =
  | { readonly settings: null; readonly problems: string[] }
  | {
      readonly settings: Settings;
      /** In the words of the command line and in the project file. */
      readonly problems: string[];
      /** There is a project file. */
      readonly hasFile: boolean;
      readonly key: string | null;
      /** Why there is no key. */
      readonly keyless: string[];
      readonly notes: string[];
      readonly trust: Trust | undefined;
    };

/** `problems` are those already known. */
export async function readRunParts(
  edge: HostContext,
  flags: Readonly<Record<string, unknown>>,
  problems: readonly string[],
): Promise<RunParts> {
  const { env, cwd } = edge;
  // Whether the project file can be trusted is not for the file itself to decide.
  const without = settingsWithoutFile({ flags, env, nearest: didYouMean });
  const trust = without === null ? undefined : await readTrust(edge, without);
  const read = await readFileOf(trust, resolve(cwd, without?.repo ?? ''));
  const file = read.status === 'ok' ? read.file : null;
  const resolved = resolveSettings({ flags, env, file, nearest: didYouMean });
  const all = [
    ...problems,
    ...(read.status === 'failed' ? read.problems : []),
    ...(resolved.status === 'failed' ? resolved.problems : []),
  ];
  if (resolved.status === 'failed') return { settings: null, problems: all };
  const { settings } = resolved;
  for (const name of settings.setupEnv) edge.hide(env[name] ?? '', name);
  const { key, notes, problems: keyless } = await readKey(edge, settings.provider);
  return { settings, problems: all, hasFile: file !== null, key, keyless, notes, trust };
}

/** Whether the settings say what is to be done. */
export function namesTask({ plan, message, planFromIssue, planFromComment }: Settings): boolean {
  return [plan, message, planFromIssue, planFromComment].some((given) => given !== null);
}

/** Undefined when there is no reason to check: outside GitHub Actions, with a plan and rules of one's own. */
export async function readTrust(edge: HostContext, settings: Settings): Promise<Trust | undefined> {
  const { planFromIssue, planFromComment, rulesFrom } = settings;
  const ofOthers = [planFromIssue, planFromComment, rulesFrom].some((given) => given !== null);
  if (edge.env.GITHUB_ACTIONS !== 'true' && !ofOthers) return undefined;
  const { findTrust } = await import('../engine/trust/trust.ts');
  const trust = await findTrust(edge, settings);
  for (const secret of trust.credentials.secrets) edge.hide(secret);
  return trust;
}

/** `start` lies in the repository. */
function readFileOf(trust: Trust | undefined, start: string): Promise<SettingsFileRead> {
  if (trust === undefined) return readSettingsFile(start, PROJECT_FILE);
  // The settings of a run that will not take place do not matter.
  if (trust.refusal !== null) return Promise.resolve({ status: 'ok', file: null });
  return trust.revision === null
    ? readSettingsFile(start, PROJECT_FILE)
    : readSettingsAt(trust.revision, PROJECT_FILE);
}

/** Keys are passed separately: what is in an environment ends up in a child process sooner or later. */
export function withoutKey(env: HostContext['env']): HostContext['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !KEY_VARIABLES.includes(name)));
}

/** For children that inherit an environment: the run itself still needs to know the tokens in order to redact them. */
export function withoutKeyAndTokens({
  GITHUB_TOKEN: _token,
  GH_TOKEN: _other,
  ...env
}: HostContext['env']): HostContext['env'] {
  return withoutKey(env);
}
