/** Settings from flags, environment, project file and defaults. The settings themselves are defined in schema.ts. */

import {
  defaultProvider,
  KEY_VARIABLES,
  PROVIDERS,
  type ProviderEntry,
  providerNamed,
} from '../adapters/providers/registry.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { isCovered } from '../domain/review/allowed-domain.ts';
import { hasPrice } from '../domain/run/pricing.ts';
import { attemptsConflicts } from './attempts.ts';
import { fallbackParts, reviewerParts, withNamedProvider } from './named-provider.ts';
import { type SettingEntry, type SettingKey, Settings, settingEntries } from './schema.ts';
import { isPlainHttp } from './values/addresses.ts';
import { shown } from './values/value.ts';

export type { Settings } from './schema.ts';

/** The project file, in the root of the repository. Anyone who can open a pull request can write it. */
export const PROJECT_FILE = '.patchsmith.yml';

/** Where a value came from: `name` is the flag, the variable, or the file with its line; `over` are those that it wins over. */
export interface SettingSource {
  readonly from: 'flag' | 'environment' | 'file' | 'default';
  readonly name: string;
  readonly over: readonly string[];
}

/** The raw inputs. Keys of `flags` and `file.values` are the settings' kebab-case names. */
export interface SettingInputs {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: ProjectFile | null;
  /** The end of a message about `name`: the most similar of `known`, or `otherwise`. */
  nearest(name: string, known: readonly string[], otherwise: string): string;
}

/** The parsed project file; `lines` gives the line of each key, counted from 1. */
interface ProjectFile {
  readonly values: Readonly<Record<string, unknown>>;
  readonly lines: Readonly<Record<string, number>>;
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

function chooseSettings(given: SettingInputs): ResolvedSettings {
  const { inputs, refusal } = withNamedProvider(given);
  const provider = providerAsked(inputs);
  const entries = settingEntries(provider);
  const problems = [...unknownNames(inputs, entries)];
  if (refusal !== null)
    problems.push(problem('ERR_NOT_FOR_PROJECT_FILE', `${placeInFile(inputs.file, 'model')}: ${refusal}`));
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
  // Nobody typed --provider where --model names it.
  if (inputs !== given && sources.provider.from === sources.model.from)
    sources.provider = { ...sources.provider, name: sources.model.name };
  if (chosen.sandbox === undefined && inCi(inputs.env)) chosen.sandbox = 'required';
  if (chosen.model === undefined && provider.defaultModel !== null) chosen.model = provider.defaultModel;
  if (problems.length > 0) return { status: 'failed', problems };
  return { status: 'ok', settings: Settings.parse(chosen), sources };
}

/** The provider named by the flags or the environment: it determines which variables apply to a run. */
export function providerAsked(given: Pick<SettingInputs, 'flags' | 'env'>): ProviderEntry {
  const { flags, env } = withNamedProvider(given).inputs;
  const entry = settingEntries().find(({ key }) => key === 'provider');
  const name = flags.provider ?? env[entry?.variable ?? ''];
  return providerNamed(name) ?? defaultProvider;
}

interface Given {
  readonly value: unknown;
  readonly source: Omit<SettingSource, 'over'>;
}

/** The values of a setting by source; the first one counts. */
function givenValues({ flags, env, file }: SettingInputs, entry: SettingEntry): Given[] {
  const given: Given[] = [];
  const flag = flags[entry.flag];
  if (flag !== undefined) given.push({ value: flag, source: { from: 'flag', name: `--${entry.flag}` } });
  const variable = env[entry.variable];
  if (variable) given.push({ value: variable, source: { from: 'environment', name: entry.variable } });
  if (file && Object.hasOwn(file.values, entry.flag)) {
    const name = placeInFile(file, entry.flag);
    given.push({ value: file.values[entry.flag], source: { from: 'file', name } });
  }
  return given;
}

function problemsOf({ value, source }: Given, entry: SettingEntry): Problem[] {
  const { flag, file } = entry;
  const elsewhere = `use --${flag} or ${entry.variable}`;
  if (source.from === 'file' && file === 'refused') {
    return [
      problem('ERR_NOT_FOR_PROJECT_FILE', `${source.name}: a project file may not set ${flag}; ${elsewhere}`),
    ];
  }
  const parsed = Settings.shape[entry.key].safeParse(value);
  // The name of a flag or a variable says which setting it is; a line of the file does not.
  const place = source.from === 'file' ? `${source.name}: ${flag}` : source.name;
  if (source.from === 'file' && value === null) {
    return [problem('ERR_INVALID_VALUE', `${place}: there is no value; write one, or leave the line out`)];
  }
  if (!parsed.success)
    return parsed.error.issues.map((issue) => problem('ERR_INVALID_VALUE', `${place}: ${issue.message}`));
  if (source.from !== 'file') return [];
  if (entry.key === 'sandbox' && parsed.data !== 'required') {
    return [
      problem(
        'ERR_NOT_FOR_PROJECT_FILE',
        `${source.name}: a project file may only require the sandbox; ${elsewhere}`,
      ),
    ];
  }
  if (file === 'lower' && entry.initial !== null && Number(parsed.data) > Number(entry.initial)) {
    return [
      problem(
        'ERR_NOT_FOR_PROJECT_FILE',
        `${source.name}: a project file may lower ${flag} below its default, not raise it; ${elsewhere}`,
      ),
    ];
  }
  return [];
}

/** A project file can remove part of what the operator allows; only the rest is then allowed. */
function* widenings(given: readonly Given[], entry: SettingEntry): Generator<Problem> {
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
function listOf({ value }: Given, { key }: SettingEntry): string[] {
  const parsed = Settings.shape[key].safeParse(value);
  const items: readonly unknown[] = parsed.success && Array.isArray(parsed.data) ? parsed.data : [];
  return items.filter((item) => typeof item === 'string');
}

function* unknownNames(inputs: SettingInputs, entries: readonly SettingEntry[]): Generator<Problem> {
  const flags = entries.map((entry) => entry.flag);
  const dashed = flags.map((flag) => `--${flag}`);
  for (const name of Object.keys(inputs.flags)) {
    if (flags.includes(name)) continue;
    const nearest = inputs.nearest(`--${name}`, dashed, ALL_SETTINGS);
    yield problem('ERR_UNKNOWN_FLAG', `--${name}: there is no such flag; ${nearest}`);
  }
  const variables = entries.map((entry) => entry.variable);
  for (const name of Object.keys(inputs.env)) {
    if (!name.startsWith('PATCHSMITH_') || variables.includes(name)) continue;
    const nearest = inputs.nearest(name, [...variables, ...KEY_VARIABLES], ALL_SETTINGS);
    yield problem(
      'ERR_UNKNOWN_VARIABLE',
      `${shown(name).slice(1, -1)}: there is no such variable; ${nearest}`,
    );
  }
  const keys = entries.filter((entry) => entry.file !== 'refused').map((entry) => entry.flag);
  for (const name of Object.keys(inputs.file?.values ?? {})) {
    if (flags.includes(name)) continue;
    const nearest = inputs.nearest(name, keys, ALL_SETTINGS);
    yield problem(
      'ERR_UNKNOWN_SETTING',
      `${placeInFile(inputs.file, name)}: there is no setting ${shown(name)}; ${nearest}`,
    );
  }
}

const ALL_SETTINGS = 'patchsmith help run shows them all';

function placeInFile(file: ProjectFile | null, name: string): string {
  const line = file?.lines[name];
  return line === undefined ? PROJECT_FILE : `${PROJECT_FILE}:${line}`;
}

function* contradictions(
  settings: Settings,
  sources: Readonly<Record<SettingKey, SettingSource>>,
): Generator<Problem> {
  const name = (key: SettingKey) => sources[key].name;
  if (settings.plan !== null && settings.message !== null) {
    yield problem(
      'ERR_SETTINGS_CONFLICT',
      `${name('plan')} and ${name('message')}: give one of them, not both`,
    );
  }
  for (const key of ['planFromIssue', 'planFromComment'] as const) {
    if (settings[key] === null) continue;
    const other = settings.message !== null ? 'message' : key === 'planFromIssue' ? 'planFromComment' : null;
    if (other !== null && settings[other] !== null) {
      yield problem('ERR_SETTINGS_CONFLICT', `${name(key)} and ${name(other)}: give one of them, not both`);
    }
  }
  if (settings.quiet && settings.verbose) {
    yield problem(
      'ERR_SETTINGS_CONFLICT',
      `${name('quiet')} and ${name('verbose')}: give one of them, not both`,
    );
  }
  if (settings.commandTimeoutMs > settings.maxCommandTimeoutMs) {
    yield problem(
      'ERR_SETTINGS_CONFLICT',
      `${name('commandTimeoutMs')}: is over --max-command-timeout, which is ${settings.maxCommandTimeoutMs / 1_000} s (${name('maxCommandTimeoutMs')})`,
    );
  }
  const provider = providerNamed(settings.provider) ?? defaultProvider;
  if (provider.playsRecording && settings.recording === null) {
    yield problem(
      'ERR_SETTING_NEEDED',
      `${name('provider')}: ${settings.provider} needs a journal or a script; use --recording FILE`,
    );
  }
  if (!provider.playsRecording && settings.recording !== null) {
    const players = Object.keys(PROVIDERS).filter((other) => PROVIDERS[other]?.playsRecording);
    yield problem(
      'ERR_SETTING_WITHOUT_EFFECT',
      `${name('recording')}: is only used with --provider ${players.join('|')}`,
    );
  }
  if (provider.defaultModel === null && !provider.playsRecording && sources.model.from === 'default') {
    yield problem(
      'ERR_SETTING_NEEDED',
      `${name('provider')}: ${settings.provider} has no default model; use --model ID`,
    );
  }
  if (provider.runsProgram && settings.providerCommand === null) {
    yield problem(
      'ERR_SETTING_NEEDED',
      `${name('provider')}: ${settings.provider} needs a program; use --provider-command PROGRAM`,
    );
  }
  for (const key of ['providerCommand', 'providerEnv'] as const) {
    const others = [fallbackParts(settings), reviewerParts(settings)].map((parts) =>
      providerNamed(parts?.provider),
    );
    const runs = [provider, ...others].some((one) => one?.runsProgram);
    if (!runs && sources[key].from !== 'default')
      yield problem('ERR_SETTING_WITHOUT_EFFECT', `${name(key)}: is only used with --provider command`);
  }
  if (settings.baseUrl !== null && isPlainHttp(settings.baseUrl) && !settings.allowInsecureBaseUrl) {
    yield problem(
      'ERR_INSECURE_BASE_URL',
      `${name('baseUrl')}: plain http to another host, where the key could be read on the way; use https, or permit it with --allow-insecure-base-url`,
    );
  }
  if (settings.compaction === 'server' && !(provider.compacts?.(settings.model) ?? false)) {
    yield problem(
      'ERR_COMPACTION_UNSUPPORTED',
      `${name('compaction')}: ${settings.provider} has no compaction of its own for ${shown(settings.model)}; use --compaction summarize`,
    );
  }
  if (settings.via === 'push' && settings.sign === 'required') {
    yield problem(
      'ERR_SETTINGS_CONFLICT',
      `${name('via')} and ${name('sign')}: what git pushes is not signed by GitHub; use --via api`,
    );
  }
  const fallback = fallbackParts(settings);
  if (fallback !== null && provider.playsRecording) {
    yield problem(
      'ERR_SETTING_WITHOUT_EFFECT',
      `${name('fallbackModel')}: a recording has nobody who could go on`,
    );
  }
  const reviewer = reviewerParts(settings);
  if (reviewer !== null && provider.playsRecording) {
    yield problem(
      'ERR_SETTINGS_CONFLICT',
      `${name('reviewModel')}: a recording has nobody else who could review; with --review it plays its own reviews`,
    );
  }
  for (const [key, parts] of [
    ['fallbackModel', fallback],
    ['reviewModel', reviewer],
  ] as const) {
    const runs = providerNamed(parts?.provider)?.runsProgram ?? false;
    if (runs && settings.providerCommand === null && !provider.runsProgram) {
      yield problem(
        'ERR_SETTING_NEEDED',
        `${name(key)}: ${parts?.provider} needs a program; use --provider-command PROGRAM`,
      );
    }
  }
  const after = providerNamed(fallback?.provider) ?? provider;
  if (fallback !== null && settings.compaction === 'server' && !(after.compacts?.(fallback.model) ?? false)) {
    yield problem(
      'ERR_COMPACTION_UNSUPPORTED',
      `${name('compaction')}: ${fallback.provider} has no compaction of its own for ${shown(fallback.model)}, the fallback model; use --compaction summarize`,
    );
  }
  yield* attemptsConflicts(settings, { provider, name });
  if (settings.maxCostUsd === null) return;
  for (const [what, parts] of [
    ['fallback model', fallback],
    ['reviewer', reviewer],
  ] as const) {
    const entry = providerNamed(parts?.provider);
    if (parts !== null && entry?.isBilled && !hasPrice(parts.model) && !entry.priceOf?.(parts.model)) {
      yield problem(
        'ERR_PRICE_UNKNOWN',
        `${name('maxCostUsd')}: the price of ${shown(parts.model)}, the ${what}, is not known, so its cost cannot be limited; use --max-total-tokens`,
      );
    }
  }
  if (sources.price.from === 'file' && sources.maxCostUsd.from !== 'file') {
    yield problem(
      'ERR_NOT_FOR_PROJECT_FILE',
      `${name('price')}: a project file may not set the prices that ${name('maxCostUsd')} is measured by; use --price`,
    );
  }
  const { model, price } = settings;
  if (provider.isBilled && price === null && !hasPrice(model) && !provider.priceOf?.(model)) {
    yield problem(
      'ERR_PRICE_UNKNOWN',
      `${name('maxCostUsd')}: the price of ${shown(settings.model)} is not known, so its cost cannot be limited; use --price`,
    );
  }
}

function inCi(env: SettingInputs['env']): boolean {
  return [env.CI, env.GITHUB_ACTIONS].some((value) => value && value !== 'false' && value !== '0');
}
