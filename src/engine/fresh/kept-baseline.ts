/** A check keeps how the commands of the baseline ended; the run that follows runs them again only where something differs. */

import { isTaken } from '../../domain/journal/base.ts';
import type { CommandReport, RunStarted } from '../../domain/run/events.ts';
import type { Session } from '../session.ts';
import type { Task } from './task.ts';

/** What a check keeps, and what an earlier check has kept. */
export async function keptBaselineOf(
  session: Session,
  { plan: { setup }, verify, baseline }: Task,
  { patchsmith, sandbox, base }: Pick<RunStarted, 'patchsmith' | 'sandbox' | 'base'>,
) {
  const { env, now, settings, isCheck = false } = session.input;
  const { mounts, caches, verifyIn, verifyTimeoutMs, allowedDomains, allowedPrivate } = settings;
  const { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes } = settings;
  // What commands could have written is not believed.
  const isWritable = sandbox === 'none' || mounts.some((mount) => mount.endsWith(':rw'));
  if ((!isCheck && baseline === null) || isWritable || settings.preflight === 'off' || !isTaken(base))
    return { known: () => null, keep: () => {} };
  const { keepBaseline, keptBaseline } = await import('../../adapters/storage/checked-baseline.ts');
  const limits = { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes, verifyTimeoutMs };
  const hosts = { allowedDomains, allowedPrivate };
  const tree = { root: session.root, commit: base.commit, tree: base.tree };
  const commands = { setup, verify, verifyIn };
  const key = {
    patchsmith,
    sandbox,
    ...tree,
    ...commands,
    mounts,
    caches,
    ...hosts,
    ...limits,
    path: env.PATH ?? '',
  };
  return {
    known() {
      const kept = keptBaseline({ env, key, now: now() });
      if (kept === null) return null;
      const minutes = Math.round((now() - kept.at) / 60_000);
      session.progress.note(`before the work: as patchsmith check found it ${minutes} min ago`);
      for (const report of kept.reports) session.progress.commandEnded('verify', report);
      return kept.reports;
    },
    keep: (reports: readonly CommandReport[]) =>
      keepBaseline({ env, key, now: now(), redact: session.redact }, reports),
  };
}
