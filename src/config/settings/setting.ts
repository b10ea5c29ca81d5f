/** A setting: its type, its default and its metadata. */

import type * as z from 'zod';

/** How a setting is given and described. */
export interface SettingMeta {
  readonly flag: string;
  /** A single letter, for the few that are typed often. */
  readonly short?: string;
  /** Placeholder of the value in help texts; absent for a switch. */
  readonly value?: string;
  /** `commas`: entries may have commas between them as well, since no such name has one in it. */
  readonly repeatable?: true | 'commas';
  readonly group: SettingGroup;
  readonly help: string;
  /** Shown instead of the default itself, if that depends on something or its absence has a meaning. */
  readonly defaultHelp?: string;
  /** Used instead of PATCHSMITH_<FLAG>. */
  readonly variable?: string;
  /** The same, if each provider has its own variable. */
  readonly providerVariable?: 'baseUrlVariable';
  /**
   * What the project file may do with it: set it, only lower it below the default, only remove what others allow, or
   * nothing. It may never loosen a restriction, or choose what is read or written outside, or where the key is sent.
   */
  readonly file: 'set' | 'lower' | 'narrow' | 'refused';
  /** Who takes it besides those that take all of its group. */
  readonly alsoFor?: readonly SettingTaker[];
  /** Who does not take it, although it takes the group. */
  readonly notFor?: SettingTaker;
}

/** Commands with so many settings that these say who takes them. */
export type SettingTaker = 'run' | 'resume' | 'prepare' | 'publish' | 'replay' | 'doctor';

/** The headings under which help texts and docs list the settings. */
export const SETTING_GROUPS = [
  'Task',
  'Repository',
  'Trust on GitHub',
  'Model',
  'Limits',
  'Sandbox and limits of commands',
  'Replay',
  'Old runs',
  'Publishing',
  'Output',
] as const;

/** One of `SETTING_GROUPS`. */
export type SettingGroup = (typeof SETTING_GROUPS)[number];

/** A setting with its default, which is null if absence has its own meaning. */
export interface Setting<Value> extends SettingMeta {
  readonly initial: Value;
  /** The schema of a value that is given. It is made for that one: those of all settings would take 6 ms of each start. */
  type(): z.ZodType;
}

/** Defines a setting with a default, or with none. */
export function setting<Given>(
  type: () => z.ZodType<Given>,
  initial: NoInfer<Given>,
  meta: SettingMeta,
): Setting<Given>;
export function setting<Given>(
  type: () => z.ZodType<Given>,
  initial: null,
  meta: SettingMeta,
): Setting<Given | null>;
export function setting(type: () => z.ZodType, initial: unknown, meta: SettingMeta): Setting<unknown> {
  return { ...meta, type, initial };
}
