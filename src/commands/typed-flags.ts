/** The flags of one command as another one takes them. */

import { type SettingKey, settingEntries, settingsOf } from '../config/schema.ts';
import type { TypedFlags } from '../domain/journal/continuation.ts';

type Flags = Readonly<Record<string, unknown>>;

/** Those of the flags that the command takes too, for messages that print it. How a run is shown is not part of it. */
export function typedFor(
  command: 'resume' | 'publish',
  flags: Flags,
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
export function flagsAmong(taken: readonly SettingKey[], flags: Flags): Record<string, unknown> {
  const names = settingEntries().flatMap(({ key, flag }) => (taken.includes(key) ? [flag] : []));
  return Object.fromEntries(Object.entries(flags).filter(([flag]) => names.includes(flag)));
}
