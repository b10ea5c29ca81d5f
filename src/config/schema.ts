/**
 * All settings, defined once: each heading of the help text has a file in settings/. Flags, PATCHSMITH_* variables,
 * `.patchsmith.yml` keys, help texts, docs and action inputs derive from this one object; src/config/resolve.ts resolves them.
 */

import { defaultProvider, type ProviderEntry } from '../adapters/providers/registry.ts';
import { MODEL_SETTINGS } from './settings/model.ts';
import { OLD_RUN_SETTINGS, OUTPUT_SETTINGS } from './settings/output.ts';
import { PUBLISHING_SETTINGS } from './settings/publishing.ts';
import { LIMIT_SETTINGS, SANDBOX_SETTINGS } from './settings/sandbox.ts';
import { SETTING_GROUPS, type Setting, type SettingGroup, type SettingTaker } from './settings/setting.ts';
import { REPOSITORY_SETTINGS, TASK_SETTINGS, TRUST_SETTINGS } from './settings/task.ts';
import { durationText, sizeText } from './values/amounts.ts';

/** All settings in the order of the help text. Durations are in milliseconds. Null means "not given": no limit, or what `defaultHelp` says. */
const SETTINGS = {
  ...TASK_SETTINGS,
  ...REPOSITORY_SETTINGS,
  ...TRUST_SETTINGS,
  ...MODEL_SETTINGS,
  ...LIMIT_SETTINGS,
  ...SANDBOX_SETTINGS,
  ...OLD_RUN_SETTINGS,
  ...PUBLISHING_SETTINGS,
  ...OUTPUT_SETTINGS,
};
/** The values of all settings. */
export type Settings = {
  readonly [Key in keyof typeof SETTINGS]: (typeof SETTINGS)[Key]['initial'];
};
/** The name of a setting in code and in `.patchsmith.yml`. */
export type SettingKey = keyof Settings;

/** Where a value came from: `name` is the flag, the variable, or the file with its line; `over` are those that it wins over. */
export interface SettingSource {
  readonly from: 'flag' | 'environment' | 'file' | 'default';
  readonly name: string;
  readonly over: readonly string[];
}

/** Settings of which some are given, and the defaults for the others. Throws if a value is invalid. */
export function withDefaults(given: Readonly<Partial<Record<SettingKey, unknown>>>): Settings {
  const values = settingEntries().map(({ key, initial, type }) => [
    key,
    given[key] === undefined || given[key] === null ? initial : type().parse(given[key]),
  ]);
  return Object.fromEntries(values);
}

/** A setting with everything known about it. */
export interface SettingEntry extends Setting<Settings[SettingKey]> {
  readonly key: SettingKey;
  readonly variable: string;
}

/**
 * All settings in the order of the help text, with the variables that apply to a provider. Computed once for each provider:
 * every command needs them many times.
 */
export function settingEntries(provider: ProviderEntry = defaultProvider): readonly SettingEntry[] {
  const known = entriesOf.get(provider) ?? entriesFor(provider);
  entriesOf.set(provider, known);
  return known;
}

const entriesOf = new Map<ProviderEntry, readonly SettingEntry[]>();

function entriesFor(provider: ProviderEntry): SettingEntry[] {
  return (Object.keys(SETTINGS) as SettingKey[]).map((key) => {
    const setting: Setting<Settings[SettingKey]> = SETTINGS[key];
    const own =
      setting.providerVariable === undefined ? setting.variable : provider[setting.providerVariable];
    const variable = own ?? `PATCHSMITH_${setting.flag.toUpperCase().replaceAll('-', '_')}`;
    return { ...setting, key, variable };
  });
}

/** Groups of which a command takes all settings. */
const WHOLE_GROUPS: Readonly<Partial<Record<SettingTaker, readonly SettingGroup[]>>> = {
  run: SETTING_GROUPS.filter((group) => !['Publishing', 'Replay', 'Old runs'].includes(group)),
  resume: ['Trust on GitHub'],
  publish: ['Publishing'],
  replay: ['Replay'],
};

/** The settings that a command takes. */
export function settingsOf(taker: SettingTaker): SettingKey[] {
  const isTaken = ({ group, alsoFor, notFor }: SettingEntry) =>
    alsoFor?.includes(taker) || (notFor !== taker && WHOLE_GROUPS[taker]?.includes(group));
  return settingEntries().flatMap((entry) => (isTaken(entry) ? [entry.key] : []));
}

/** The default as help texts show it. */
export function defaultText({ key, initial, defaultHelp, value }: SettingEntry): string {
  if (defaultHelp !== undefined) return defaultHelp;
  if (initial === null) return 'none';
  if (value === 'SIZE') return sizeText(Number(initial));
  return key.endsWith('Ms') ? durationText(Number(initial)) : String(initial);
}
