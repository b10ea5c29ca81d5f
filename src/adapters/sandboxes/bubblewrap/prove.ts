/** Has a sandbox proven, with as much of what contains it as bubblewrap and the kernel of this machine permit. */

import { arch } from 'node:process';
import type { Sandbox } from '../../../ports.ts';
import { bubblewrapSandbox } from './bubblewrap.ts';
import { CANARY, featuresOf, NEWEST, probe } from './probe.ts';
import type { BubblewrapSetup } from './start.ts';

/** All decisions about the sandbox except those that depend on the machine's kernel and bubblewrap. */
type Plan = Omit<BubblewrapSetup, 'features' | 'filter'>;

type Proven =
  /** `unfiltered` says why there is no system call filter; null when there is one. */
  { status: 'ok'; sandbox: Sandbox; unfiltered: string | null } | { status: 'unavailable'; reason: string };

/** Assumes the newest bubblewrap, which saves asking for its version on every start, and asks only if that fails. */
export async function proveNewest(plan: Plan, filter: string | null): Promise<Proven> {
  const best = await prove({ ...plan, features: NEWEST, filter });
  if (best.failure === null && filter !== null)
    return { status: 'ok', sandbox: best.sandbox, unfiltered: null };
  const features = await featuresOf(plan.program);
  if (features === 'too old') {
    return { status: 'unavailable', reason: 'This bubblewrap is too old: 0.5 or later is needed.' };
  }
  const isNewest = features.disableUserns && features.tmpfsSize;
  const second = isNewest ? best : await prove({ ...plan, features, filter });
  if (second.failure === null && filter !== null)
    return { status: 'ok', sandbox: second.sandbox, unfiltered: null };
  // Even without the filter the namespaces contain commands; if they do not, that is the reason to report.
  const last = filter === null ? second : await prove({ ...plan, features, filter: null });
  if (last.failure !== null) {
    const { explain, readMachineFacts } = await import('./unavailable.ts');
    return { status: 'unavailable', reason: explain(last.failure, readMachineFacts()) };
  }
  // Both processes of bubblewrap may print it, at the same time.
  const unfiltered = second.failure?.split('\n')[0] ?? `it cannot be made for ${arch}`;
  return { status: 'ok', sandbox: last.sandbox, unfiltered };
}

/** `failure` is what the probe found wrong with this setup; null if nothing. */
async function prove(setup: BubblewrapSetup): Promise<{ sandbox: Sandbox; failure: string | null }> {
  // In the C locale, which needs no files: bash starts with a warning if a locale is not installed. With the system's own
  // programs: a folder of the repository may be on PATH, and the covers are not known yet.
  const env = { ...setup.env, LC_ALL: 'C', PATH: '/usr/bin:/bin' };
  const { pipes } = setup;
  const probed = bubblewrapSandbox({
    ...setup,
    env,
    keepsSpare: false,
    outerEnv: { [CANARY]: 'outside' },
    // The others are for the commands of the run.
    pipes: { open: (onBytes) => pipes.open(onBytes), close: () => undefined },
  });
  const failure = await probe(probed, setup).finally(() => probed.close());
  return { sandbox: bubblewrapSandbox(setup), failure };
}
