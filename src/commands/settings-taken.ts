/** Which settings both the commands and the action have: flags of the former are inputs of the latter. */

import { SETTING_GROUPS, type SettingKey, settingsIn } from '../config/schema.ts';

/** By command; `locate` is a mode of the action alone. */
export const SETTINGS_TAKEN: Readonly<
  Record<'run' | 'prepare' | 'publish' | 'locate', readonly SettingKey[]>
> = {
  run: [
    ...settingsIn(...SETTING_GROUPS.filter((group) => !['Publishing', 'Replay', 'Old runs'].includes(group))),
    'maxTotalBytes',
    // Where issues and comments are read, and where access rights are checked.
    'repository',
    'githubApiUrl',
    'githubServerUrl',
  ],
  prepare: [
    'repository',
    'base',
    'branch',
    'branchSuffix',
    'plan',
    'continued',
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
    'allow',
    'protect',
    'acceptSecrets',
    'deadlineMs',
    'output',
    'quiet',
  ],
  locate: ['repository', 'githubApiUrl'],
};
