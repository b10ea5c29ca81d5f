/** Settings from flags, environment, project file and defaults. The settings themselves are defined in schema.ts. */

import {
  DEFAULT_PROVIDER,
  defaultProvider,
  KEY_VARIABLES,
  type ProviderEntry,
  providerNamed,
} from '../adapters/providers/registry.ts';
import { globFrom } from '../domain/changes/glob.ts';
import type { Environment } from '../domain/environment.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { isCovered } from '../domain/review/reachable.ts';
import { contradictions } from './contradictions.ts';
import { didYouMean } from './did-you-mean.ts';
import { namedProvider } from './named-provider.ts';
import {
  type SettingEntry,
  type SettingKey,
  type SettingSource,
  type Settings,
  settingEntries,
  withDefaults,
} from './schema.ts';
import type { ProjectFile } from './settings-file.ts';
import { shown } from './values/value.ts';

/** The project file, in the root of the repository. Anyone who can open a pull request can write it. */
export const PROJECT_FILE = '.patchsmith.yml';

/** The raw inputs. Keys of `flags` and `file.values` are the settings' kebab-case names. */
export interface SettingInputs {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Environment;
  readonly file: ProjectFile | null;
  /** Where one stands, relative to the root: globs of flags are relative to it. Default: the root. */
  readonly folder?: string | undefined;
}

/** All settings with where each came from, or everything that is wrong with them. */
export type ResolvedSettings =
  | { status: 'ok'; settings: Settings; sources: Readonly<Record<SettingKey, SettingSource>> }
  | { status: 'failed'; problems: Problem[] };

/**
 * Flags take precedence over the environment, then the project file, then defaults. An empty variable counts as absent: that
 * is how a workflow passes on an input that was not set. Every problem is reported with its source and how to fix it, even
 * in a value that another source overrides.
 */
export function resolveSettings(inputs: SettingInputs): ResolvedSettings {
  const chosen = chooseSettings(inputs);
  if (chosen.status === 'failed') return chosen;
  const clashes = [...contradictions(chosen.settings, chosen.sources)];
  return clashes.length > 0 ? { status: 'failed', problems: clashes } : chosen;
}

/**
 * The settings of the command line and the environment, needed before a project file is read: whether they are consistent is
 * not checked, since a file may still add to them.
 */
export function settingsWithoutFile(inputs: Omit<SettingInputs, 'file'>): Settings | null {
  const chosen = chooseSettings({ ...inputs, file: null });
  return chosen.status === 'ok' ? chosen.settings : null;
}

function chooseSettings(inputs: SettingInputs): ResolvedSettings {
  const named = namedProvider(inputs);
  const provider = providerAsked(inputs);
  const entries = settingEntries(provider);
  const problems = [...unknownNames(inputs, entries)];
  if (named?.inFile && named.provider !== DEFAULT_PROVIDER)
    problems.push(
      problem(
        'ERR_NOT_FOR_PROJECT_FILE',
        `${placeInFile(inputs.file, 'model')}: a project file may not set provider, as in model: ${named.provider}/…; use --model ${named.provider}/… or PATCHSMITH_MODEL`,
      ),
    );
  const chosen: Partial<Record<SettingKey, unknown>> = {};
  const sources = {} as Record<SettingKey, SettingSource>;
  for (const entry of entries) {
    const given = givenValues(inputs, entry);
    problems.push(...given.flatMap((one) => problemsOf(one, entry)));
    problems.push(...widenings(given, entry));
    const deciding =
      (entry.file === 'narrow' ? given.find(({ source }) => source.from === 'file') : null) ?? given[0];
    const over = given.flatMap((one) => (one === deciding ? [] : [one.source.name]));
    const source = deciding?.source ?? { from: 'default', name: `the default of --${entry.flag}` };
    sources[entry.key] = { ...source, over };
    if (deciding) chosen[entry.key] = deciding.value;
  }
  if (named !== null) chosen.model = named.model;
  if (named !== null && !named.inFile) {
    chosen.provider = named.provider;
    sources.provider = { ...sources.model, over: [] };
  }
  if (chosen.sandbox === undefined && inCi(inputs.env)) chosen.sandbox = 'required';
  if (chosen.model === undefined && provider.defaultModel !== null) chosen.model = provider.defaultModel;
  if (problems.length > 0) return { status: 'failed', problems };
  return { status: 'ok', settings: withDefaults(chosen), sources };
}

/** The provider named by the flags or the environment: it determines which variables apply to a run. */
export function providerAsked({ flags, env }: Pick<SettingInputs, 'flags' | 'env'>): ProviderEntry {
  const named = namedProvider({ flags, env })?.provider ?? flags.provider ?? env.PATCHSMITH_PROVIDER;
  return providerNamed(named) ?? defaultProvider;
}

interface GivenValue {
  readonly value: unknown;
  readonly source: Omit<SettingSource, 'over'>;
}

/** The values of a setting by source; the first one counts. */
function givenValues({ flags, env, file, folder = '' }: SettingInputs, entry: SettingEntry): GivenValue[] {
  const given: GivenValue[] = [];
  const flag = entry.value === 'GLOB' ? globsFrom(folder, flags[entry.flag]) : flags[entry.flag];
  if (flag !== undefined) given.push({ value: flag, source: { from: 'flag', name: `--${entry.flag}` } });
  const variable = env[entry.variable];
  if (variable) given.push({ value: variable, source: { from: 'environment', name: entry.variable } });
  if (file && Object.hasOwn(file.values, entry.flag)) {
    const name = placeInFile(file, entry.flag);
    given.push({ value: file.values[entry.flag], source: { from: 'file', name } });
  }
  return given;
}

/** Values of another form have yet to be refused. */
function globsFrom(folder: string, given: unknown): unknown {
  const list = typeof given === 'string' ? given.split('\n') : given;
  if (folder === '' || !Array.isArray(list)) return given;
  return list.map((glob) => (typeof glob === 'string' ? globFrom(folder, glob.trim()) : glob));
}

function problemsOf({ value, source }: GivenValue, entry: SettingEntry): Problem[] {
  const { flag, file } = entry;
  const elsewhere = `use --${flag} or ${entry.variable}`;
  const notInFile = (mayOnly: string) =>
    problem('ERR_NOT_FOR_PROJECT_FILE', `${source.name}: a project file may ${mayOnly}; ${elsewhere}`);
  if (source.from === 'file' && file === 'refused') return [notInFile(`not set ${flag}`)];
  const parsed = entry.type().safeParse(value);
  // The name of a flag or a variable says which setting it is; a line of the file does not.
  const place = source.from === 'file' ? `${source.name}: ${flag}` : source.name;
  if (source.from === 'file' && value === null) {
    return [problem('ERR_INVALID_VALUE', `${place}: there is no value; write one, or leave the line out`)];
  }
  if (!parsed.success)
    return parsed.error.issues.map((issue) => problem('ERR_INVALID_VALUE', `${place}: ${issue.message}`));
  if (source.from !== 'file') return [];
  if (entry.key === 'sandbox' && parsed.data !== 'required') return [notInFile('only require the sandbox')];
  if (file === 'lower' && entry.initial !== null && Number(parsed.data) > Number(entry.initial))
    return [notInFile(`lower ${flag} below its default, not raise it`)];
  return [];
}

/** A project file can remove part of what the operator allows; only the rest is then allowed. */
function* widenings(given: readonly GivenValue[], entry: SettingEntry): Generator<Problem> {
  const ofFile = given.find(({ source }) => source.from === 'file');
  if (entry.file !== 'narrow' || ofFile === undefined) return;
  const [operators] = given.filter((one) => one !== ofFile);
  const allowed = operators === undefined ? [] : listOf(operators, entry);
  for (const item of listOf(ofFile, entry)) {
    if (isCovered(item, allowed)) continue;
    yield problem(
      'ERR_NOT_FOR_PROJECT_FILE',
      `${ofFile.source.name}: a project file may only leave out what --${entry.flag} or ${entry.variable} allows, and ${shown(item)} is not one of them`,
    );
  }
}

/** Empty if it is not a valid list, which is reported separately. */
function listOf({ value }: GivenValue, { type }: SettingEntry): string[] {
  const parsed = type().safeParse(value);
  const items: readonly unknown[] = parsed.success && Array.isArray(parsed.data) ? parsed.data : [];
  return items.filter((item) => typeof item === 'string');
}

function* unknownNames(
  { flags, env, file }: SettingInputs,
  entries: readonly SettingEntry[],
): Generator<Problem> {
  const names = entries.map((entry) => entry.flag);
  const dashed = names.map((name) => `--${name}`);
  for (const name of Object.keys(flags)) {
    if (names.includes(name)) continue;
    const hint = didYouMean(`--${name}`, dashed, ALL_SETTINGS);
    yield problem('ERR_UNKNOWN_FLAG', `--${name}: there is no such flag; ${hint}`);
  }
  const variables = entries.map((entry) => entry.variable);
  for (const name of Object.keys(env)) {
    if (!name.startsWith('PATCHSMITH_') || variables.includes(name)) continue;
    const hint = didYouMean(name, [...variables, ...KEY_VARIABLES], ALL_SETTINGS);
    yield problem('ERR_UNKNOWN_VARIABLE', `${shown(name).slice(1, -1)}: there is no such variable; ${hint}`);
  }
  const keys = entries.filter((entry) => entry.file !== 'refused').map((entry) => entry.flag);
  for (const name of Object.keys(file?.values ?? {})) {
    if (names.includes(name)) continue;
    const said = `there is no setting ${shown(name)}; ${didYouMean(name, keys, ALL_SETTINGS)}`;
    yield problem('ERR_UNKNOWN_SETTING', `${placeInFile(file, name)}: ${said}`);
  }
}

const ALL_SETTINGS = 'patchsmith help run shows them all';

function placeInFile(file: ProjectFile | null, name: string): string {
  const line = file?.lines[name];
  return line === undefined ? PROJECT_FILE : `${PROJECT_FILE}:${line}`;
}

function inCi(env: SettingInputs['env']): boolean {
  return [env.CI, env.GITHUB_ACTIONS].some((value) => value && value !== 'false' && value !== '0');
}
