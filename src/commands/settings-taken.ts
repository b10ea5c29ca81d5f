/** Which settings both the commands and the action have: flags of the former are inputs of the latter. */

import { type SettingKey, settingEntries, settingsIn } from '../config/schema.ts';
import { SETTING_GROUPS } from '../config/settings/setting.ts';
import type { TypedFlags } from '../domain/journal/continuation.ts';

/** How commands are contained here and now, whichever run they belong to. */
export const OF_THE_MACHINE = [
  'sandbox',
  'mounts',
  'caches',
  'maxProcesses',
  'maxMemoryBytes',
  'maxFileBytes',
  'maxDiskBytes',
] as const satisfies readonly SettingKey[];

/** What a run may change: a recording can lower it, but never raise it. */
export const CHANGE_LIMITS = [
  'maxChangedFiles',
  'maxChangedBytes',
  'maxChangedFileBytes',
] as const satisfies readonly SettingKey[];

/** What a resumed run may do: its directory can request it, but only the caller can permit it. */
const PERMISSIONS = [
  ...CHANGE_LIMITS,
  'allow',
  'protect',
  'acceptSecrets',
  'includeForeign',
  'allowedDomains',
  'allowedPrivate',
  'webFetch',
  'price',
  'maxOutputTokens',
  'maxIterations',
  'maxTotalTokens',
  'maxCostUsd',
  'deadlineMs',
  'fixRounds',
  'maxToolOutput',
  'mcp',
  'mcpConfig',
] as const satisfies readonly SettingKey[];

/** By command; `locate` is a mode of the action alone. */
export const SETTINGS_TAKEN: Readonly<
  Record<'run' | 'resume' | 'prepare' | 'publish' | 'locate', readonly SettingKey[]>
> = {
  run: [
    // A run always changes files.
    ...settingsIn(
      ...SETTING_GROUPS.filter((group) => !['Publishing', 'Replay', 'Old runs'].includes(group)),
    ).filter((key) => key !== 'dryRun'),
    'maxTotalBytes',
    // A conflict that publishing would refuse is not worth asking a model about.
    'protectedPaths',
    'acceptProtected',
    // Where issues and comments are read, and where access rights are checked.
    'repository',
    'githubApiUrl',
    'githubServerUrl',
  ],
  resume: [
    'repo',
    'keepBase',
    'provider',
    'fallbackModel',
    'reviewModel',
    'baseUrl',
    'allowInsecureBaseUrl',
    ...settingsIn('Trust on GitHub'),
    ...OF_THE_MACHINE,
    ...PERMISSIONS,
    'patch',
    'output',
    'logLevel',
    'logStderr',
    'quiet',
    'verbose',
  ],
  prepare: [
    'repository',
    'base',
    'branch',
    'branchSuffix',
    'plan',
    'continued',
    'followUpRounds',
    'followUpsPerDay',
    'allowBots',
    'headRepository',
    'issue',
    'triggerLabel',
    'comment',
    'dryRun',
    'githubApiUrl',
    'githubServerUrl',
    'deadlineMs',
    'quiet',
  ],
  publish: [
    ...settingsIn('Publishing'),
    'dryRun',
    'allow',
    'protect',
    'acceptSecrets',
    'deadlineMs',
    'output',
    'quiet',
  ],
  locate: ['repository', 'githubApiUrl'],
};

/** Those of the flags that the command takes too, for messages that print it. How a run is shown is not part of it. */
export function typedFor(
  command: 'resume' | 'publish',
  flags: Readonly<Record<string, unknown>>,
  redact: (text: string) => string,
): TypedFlags {
  const printed = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(printed) : typeof value === 'string' ? redact(value) : value;
  const taken = settingEntries().filter(
    ({ key, group }) => (group !== 'Output' || key === 'dryRun') && SETTINGS_TAKEN[command].includes(key),
  );
  return Object.fromEntries(
    taken.flatMap(({ flag }) => (flags[flag] === undefined ? [] : [[flag, printed(flags[flag])]])),
  );
}
