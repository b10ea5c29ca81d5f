/** The provider whose key a run needs to continue, if the chosen provider's is missing. */

import { providerNamed } from '../../adapters/providers/registry.ts';
import { openRunDirectory } from '../../adapters/storage/find-run.ts';
import { readStart } from '../../adapters/storage/read-journal.ts';
import { readKey } from '../../config/provider-keys.ts';
import type { Settings } from '../../config/schema.ts';
import { type Problem, prefixedProblems } from '../../domain/errors/problem.ts';
import type { HostContext } from '../../host/context.ts';

/**
 * What to say about the key of the provider that answered the run, if it is not the chosen one: nothing if that key is there,
 * so that `resume` says which flag to repeat. Null when it is the chosen one, or not known.
 */
export async function keyMissedBy(
  context: HostContext,
  { run, settings }: { run: string; settings: Settings },
): Promise<Problem[] | null> {
  const found = await openRunDirectory(run, context);
  const start = found.status === 'ok' ? await readStart(found.directory.events) : null;
  if (start === null) return null;
  const { provider } = start;
  if (provider === settings.provider || providerNamed(provider) === null) return null;
  const { problems } = await readKey(context, { provider, baseUrl: settings.baseUrl });
  return prefixedProblems(`the run was answered by --provider ${provider}, and `, problems);
}
