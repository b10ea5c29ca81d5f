/** Opens the sandbox of a run, and with it the way to the hosts that its commands may reach. */

import { statfsSync } from 'node:fs';
import { type OpenedSandbox, openSandbox, type SandboxOptions } from '../../adapters/sandboxes/open.ts';
import { whyNotWritable } from '../../adapters/sandboxes/own-program.ts';
import { DEFAULT_COMMAND_LIMITS } from '../../domain/run/command-limits.ts';
import type { SandboxLevel } from '../../domain/run/events.ts';
import { listed } from '../../domain/text/listed.ts';
import type { Egress, Sandbox } from '../../ports.ts';
import type { Session } from '../session.ts';

/** Opens one more sandbox, that differs only in what it shows as the work tree. Rejects where the first could be had and this cannot. */
export type OpenSibling = (place: Pick<SandboxOptions, 'root' | 'shownAs' | 'agentGit'>) => Promise<Sandbox>;

export type ContainedSandbox =
  | Exclude<OpenedSandbox, { status: 'ok' }>
  | (Extract<OpenedSandbox, { status: 'ok' }> & { beside: OpenSibling });

/** Where nothing is allowed, nothing is started. Closing the sandbox closes the way out and tells what was refused. */
export async function openContained(
  session: Session,
  options: Omit<SandboxOptions, 'proxySocket'>,
  allowed: readonly string[],
): Promise<ContainedSandbox> {
  const problem = whyNotWritable(options.root, options.mounts ?? []);
  if (problem !== null) return { status: 'refused', reason: problem };
  const egress = options.mode === 'off' || allowed.length === 0 ? null : await openEgress(options, allowed);
  const opened = await openSandbox({ ...options, proxySocket: egress?.socket ?? null }).catch(
    async (error: unknown) => {
      await egress?.close();
      throw error;
    },
  );
  if (opened.status !== 'ok') {
    await egress?.close();
    return opened;
  }
  const { level } = opened.sandbox;
  const beside = besides({ ...options, proxySocket: egress?.socket ?? null }, level);
  if (level === 'none') {
    await egress?.close();
    const warnings = allowed.length === 0 ? opened.warnings : [...opened.warnings, NOT_CONTAINED];
    return { ...opened, warnings, beside };
  }
  session.record({ network: { allowed: [...allowed], refused: [] } });
  return egress === null
    ? { ...opened, beside }
    : { ...opened, sandbox: withEgress(session, opened.sandbox, egress, allowed), beside };
}

/** Never of another level than the first. What the disk has lost since counts for it too. */
function besides(options: SandboxOptions, level: SandboxLevel): OpenSibling {
  const { limits = DEFAULT_COMMAND_LIMITS } = options;
  const freeAtStart = freeBytes(options.scratchDir);
  return async (place) => {
    const lost = Math.max(0, freeAtStart - freeBytes(options.scratchDir));
    const maxDiskBytes = Math.max(0, limits.maxDiskBytes - lost);
    const opened = await openSandbox({
      ...options,
      ...place,
      mode: level === 'none' ? 'off' : 'required',
      limits: { ...limits, maxDiskBytes },
    });
    if (opened.status !== 'ok') throw new Error(`The sandbox cannot be opened again: ${opened.reason}`);
    if (opened.sandbox.level === level) return opened.sandbox;
    await opened.sandbox.close();
    throw new Error(`The sandbox had level ${level} and now has only ${opened.sandbox.level}.`);
  };
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** What stands in the journal: what is not kept is not claimed. */
export function keptDomains({ level }: Sandbox, allowed: readonly string[]): string[] {
  return level === 'none' ? [] : [...allowed];
}

const NOT_CONTAINED =
  '--allow-domain HAS NO EFFECT: commands run without a sandbox, so they reach whatever this machine reaches.';

/** Loaded for those who want it. */
async function openEgress(
  { scratchDir }: { scratchDir: string },
  allowed: readonly string[],
): Promise<Egress> {
  const { openFilteringProxy } = await import('../../adapters/network/filtering-proxy.ts');
  return openFilteringProxy({ allowed, folder: `${scratchDir}/network` });
}

/** Hosts that one warning names. */
const MAX_NAMED = 10;

function withEgress(session: Session, sandbox: Sandbox, egress: Egress, allowed: readonly string[]): Sandbox {
  let isClosed = false;
  return {
    ...sandbox,
    async close() {
      await sandbox.close().finally(() => egress.close());
      if (isClosed) return;
      isClosed = true;
      const refused = egress.refused();
      session.record({ network: { allowed: [...allowed], refused } });
      if (refused.length === 0) return;
      const named = refused.map(({ host, times }) => `${host} (${times})`);
      session.warn(`Commands tried to reach hosts that are not allowed: ${listed(named, MAX_NAMED)}.`);
    },
  };
}
