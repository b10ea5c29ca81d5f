/** Settings that cannot be combined with several attempts at one task. */

import type { ProviderEntry } from '../adapters/providers/registry.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import type { SettingKey, Settings } from './schema.ts';

/** How settings are named to people, and who answers. */
export interface AttemptsContext {
  readonly provider: ProviderEntry;
  name(key: SettingKey): string;
}

/** Empty for a run with one attempt. */
export function* attemptsConflicts(
  settings: Settings,
  { provider, name }: AttemptsContext,
): Generator<Problem> {
  if (settings.attempts === 1) return;
  const conflicts: readonly (readonly [SettingKey, boolean, string])[] = [
    ['readOnly', settings.readOnly, 'attempts are compared by what they change'],
    ['continued', settings.continued !== 'never', 'a pull request is continued by one run'],
    ['mcp', hasEntries(settings.mcp), 'an MCP server acts outside the copies, once for each attempt'],
    [
      'mcpConfig',
      settings.mcpConfig !== null,
      'an MCP server acts outside the copies, once for each attempt',
    ],
    ['sandbox', settings.sandbox === 'off', 'without a sandbox, one attempt could reach the copy of another'],
    ['provider', provider.playsRecording, 'a recording says the same each time'],
  ];
  for (const [key, isGiven, why] of conflicts)
    if (isGiven) yield problem('ERR_SETTINGS_CONFLICT', `${name('attempts')} and ${name(key)}: ${why}`);
}

function hasEntries(mcp: Settings['mcp']): boolean {
  return (Array.isArray(mcp) ? mcp : Object.keys(mcp)).length > 0;
}
