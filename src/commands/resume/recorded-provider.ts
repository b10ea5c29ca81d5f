/** Which provider answered a run, before the run is read for good: it decides which key and address are asked for. */

import { providerNamed } from '../../adapters/providers/registry.ts';
import { findRun } from '../../adapters/storage/find-run.ts';
import { readStart } from '../../adapters/storage/read-journal.ts';
import type { HostContext } from '../../host/context.ts';

/** Null when it cannot be said, or answers no resumed run: what is wrong with the run is told when it is read for good. */
export function recordedProvider(run: string, where: Pick<HostContext, 'cwd' | 'env'>): string | null {
  const found = findRun(run, where);
  const start = found.status === 'failed' ? null : readStart(found.directory.events);
  return start !== null && providerNamed(start.provider)?.canResume ? start.provider : null;
}
