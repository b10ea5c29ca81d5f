/** The globs that apply to a run in addition to its plan's. */

import type { Settings } from '../config/schema.ts';
import type { RunStarted } from '../domain/run/events.ts';
import type { PathRules } from '../domain/run/plan.ts';

/** The globs of the settings; where these are not set, those of the run that is continued. */
export function pathsOf(
  { allow, protect, readOnly }: Pick<Settings, 'allow' | 'protect' | 'readOnly'>,
  first: PathRules = { allow: [], protect: [] },
): RunStarted['paths'] {
  return {
    allow: [...(allow.length > 0 ? allow : first.allow)],
    protect: readOnly ? ['**'] : [...new Set([...protect, ...first.protect])],
  };
}
