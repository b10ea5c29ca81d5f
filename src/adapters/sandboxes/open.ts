/** Chooses how commands are contained, once for a whole run. */

import { whyNotTogether } from '../../domain/review/reachable.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { PROXY_PORT } from './bubblewrap/listeners.ts';
import { openBubblewrap } from './bubblewrap/open.ts';
import { openUncontained } from './none.ts';
import type { OpenedSandbox, SandboxOptions } from './options.ts';

/** Rejects only for a broken machine. */
export async function openSandbox(options: SandboxOptions): Promise<OpenedSandbox> {
  if (options.mode === 'off') return withoutSandbox(options, []);
  const opened = await openBest(options);
  if (opened.status !== 'unavailable' || options.mode === 'required') return opened;
  const unprotected = warning(
    'WARN_NO_SANDBOX',
    `COMMANDS RUN WITHOUT A SANDBOX: they can read and write everything you can. ${opened.reason}`,
  );
  return withoutSandbox(options, [unprotected]);
}

/** With namespaces if the machine gives them, else with Landlock. */
async function openBest(options: SandboxOptions): Promise<OpenedSandbox> {
  const taken = whyNotTogether(options.network?.services ?? [], PROXY_PORT);
  if (taken !== null) return { status: 'refused', reason: taken };
  const opened = await openBubblewrap(options);
  if (opened.status !== 'unavailable' || (options.leastLevel ?? 'landlock') !== 'landlock') return opened;
  const { openLandlock } = await import('./landlock.ts');
  const lesser = await openLandlock(options, opened.reason);
  const refused = [{ levels: ['namespaces', 'namespaces-lite'], reason: opened.reason }];
  if (lesser.status === 'ok') return { ...lesser, refused };
  if (lesser.status === 'refused') return lesser;
  return {
    status: 'unavailable',
    reason: `${opened.reason} ${lesser.reason}`,
    refused: [...refused, { levels: ['landlock'], reason: lesser.reason }],
  };
}

const NO_CACHES = warning(
  'WARN_NO_EFFECT_WITHOUT_SANDBOX',
  '--cache HAS NO EFFECT: without a sandbox, commands could write into the caches of this machine.',
);

async function withoutSandbox(options: SandboxOptions, warnings: Warning[]): Promise<OpenedSandbox> {
  const { named = [], found = [] } = options.caches ?? {};
  const all = named.length + found.length > 0 ? [...warnings, NO_CACHES] : warnings;
  const opened = await openUncontained(options);
  return opened.status === 'ok' ? { ...opened, warnings: all, shown: [] } : opened;
}
