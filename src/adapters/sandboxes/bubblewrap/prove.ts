/** Has a sandbox proven, with as much of what contains it as bubblewrap and the kernel of this machine permit. */

import { arch } from 'node:process';
import type { Sandbox } from '../../../ports.ts';
import { bubblewrapSandbox } from './bubblewrap.ts';
import { CANARY, featuresOf, NEWEST, type Probed, probe } from './probe.ts';
import type { BubblewrapSetup } from './setup.ts';

/** All decisions about the sandbox except those that depend on the machine's kernel and bubblewrap. */
interface SandboxPlan extends Omit<BubblewrapSetup, 'features' | 'filter'> {
  /** A script that the proof runs at its end; null for none. */
  readonly lookup: string | null;
}

type Proven =
  /** `unfiltered` says why there is no system call filter; null when there is one. */
  | { status: 'ok'; sandbox: Sandbox; lookedUp: string | null; unfiltered: string | null }
  | { status: 'unavailable'; reason: string };

/** Assumes the newest bubblewrap, which saves asking for its version on every start, and asks only if that fails. */
export async function proveNewest(plan: SandboxPlan, filter: string | null): Promise<Proven> {
  const best = await prove({ ...plan, features: NEWEST, filter });
  if (best.status === 'contained' && filter !== null) return openedAs(best, null);
  const features = await featuresOf(plan.program);
  if (features === 'too old') {
    return { status: 'unavailable', reason: 'This bubblewrap is too old: 0.5 or later is needed.' };
  }
  const isNewest = features.disableUserns && features.tmpfsSize;
  const second = isNewest ? best : await prove({ ...plan, features, filter });
  if (second.status === 'contained' && filter !== null) return openedAs(second, null);
  // Even without the filter the namespaces contain commands; if they do not, that is the reason to report.
  const last = filter === null ? second : await prove({ ...plan, features, filter: null });
  if (last.status === 'failed') {
    const { explain, readMachineFacts } = await import('./unavailable.ts');
    return { status: 'unavailable', reason: explain(last.failure, readMachineFacts()) };
  }
  // Both processes of bubblewrap may print it, at the same time.
  const failure = second.status === 'failed' ? second.failure.split('\n')[0] : undefined;
  return openedAs(last, failure ?? `it cannot be made for ${arch}`);
}

function openedAs({ setup, lookedUp }: ContainedSetup, unfiltered: string | null): Proven {
  return { status: 'ok', sandbox: bubblewrapSandbox(setup), lookedUp, unfiltered };
}

interface ContainedSetup extends Extract<Probed, { status: 'contained' }> {
  readonly setup: BubblewrapSetup;
}

/** The probe's findings about this setup. */
async function prove({
  lookup,
  ...setup
}: SandboxPlan & BubblewrapSetup): Promise<Exclude<Probed, { status: 'contained' }> | ContainedSetup> {
  // In the C locale, which needs no files: bash starts with a warning if a locale is not installed. With the system's own
  // programs: a folder of the repository may be on PATH, and the covers are not known yet.
  const env = { ...setup.env, LC_ALL: 'C', PATH: '/usr/bin:/bin' };
  const { pipes } = setup;
  const probed = bubblewrapSandbox({
    ...setup,
    env,
    outerEnv: { [CANARY]: 'outside' },
    // The others are for the commands of the run.
    pipes: { open: (onBytes) => pipes.open(onBytes), close: () => undefined },
  });
  const { PATH: path = env.PATH } = setup.env;
  const asked = lookup === null ? null : { script: lookup, path };
  const found = await probe(probed, setup, asked).finally(() => probed.close());
  return found.status === 'contained' ? { ...found, setup } : found;
}
