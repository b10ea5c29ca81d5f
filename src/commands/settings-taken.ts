/** Which settings the commands take that the action has too: the flags of the one are the inputs of the other. */

import { SETTING_GROUPS, type SettingKey, settingsIn } from '../config/schema.ts';

/** By command. */
export const SETTINGS_TAKEN: Readonly<Record<'run' | 'publish', readonly SettingKey[]>> = {
  run: [
    ...settingsIn(...SETTING_GROUPS.filter((group) => group !== 'Publishing')),
    // Where issues and comments are read, and who is asked about people.
    'repository',
    'githubApiUrl',
    'githubServerUrl',
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
};
