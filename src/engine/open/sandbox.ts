/** Opens the sandbox of a run and the proxy to the hosts its commands may reach. */

import { statfsSync } from 'node:fs';
import { openSandbox } from '../../adapters/sandboxes/open.ts';
import type { OpenedSandbox, SandboxOptions } from '../../adapters/sandboxes/options.ts';
import { type HostUse, refusedToCommands } from '../../domain/review/egress.ts';
import type { Permitted } from '../../domain/review/reachable.ts';
import type { RunStarted, SandboxLevel } from '../../domain/run/events.ts';
import { withAskedHosts } from '../../domain/run/fold/turn.ts';
import { DEFAULT_COMMAND_LIMITS } from '../../domain/run/limits.ts';
import { listed } from '../../domain/text/words.ts';
import { warning } from '../../domain/warnings/warning.ts';
import type { SandboxNetwork } from '../../ports/network.ts';
import type { Sandbox } from '../../ports.ts';
import { LateRefusal } from '../ready.ts';
import type { Session } from '../session.ts';
import { notOpened } from './sandbox-settings.ts';

/**
 * Opens another sandbox that differs only in what it shows as the work tree. Rejects if the first one could be opened and
 * this one cannot.
 */
export type OpenSibling = (
  place: Pick<SandboxOptions, 'root' | 'shownAs' | 'sandboxGitDir'>,
) => Promise<Sandbox>;

/** An open sandbox with its proxy, or why there is none. */
type ContainedSandbox =
  | Exclude<OpenedSandbox, { status: 'ok' }>
  | (Extract<OpenedSandbox, { status: 'ok' }> & { beside: OpenSibling });

/** What is needed to open the sandbox and its proxy. */
interface ContainedOptions {
  readonly options: Omit<SandboxOptions, 'network'>;
  /** Hosts that commands may reach. The proxy names them when it refuses another host, even if there are none. */
  readonly hosts: Permitted;
  readonly closing: Closing;
}

/** `closing` owns everything opened; closing it reports the refused hosts. */
export async function openContained(
  session: Session,
  { options, hosts, closing }: ContainedOptions,
): Promise<ContainedSandbox> {
  const { asked } = session;
  const egress = options.mode === 'off' ? null : await openEgress(session, hosts);
  const allowed = namesOf(hosts);
  const withProxy = { ...options, network: egress, isNetworkClosed: allowed.length === 0 };
  const opened = await openSandbox(withProxy);
  if (opened.status !== 'ok') return opened;
  const { sandbox } = opened;
  const withNotes = (one: Sandbox) => {
    // Refusals are of the command as it is written.
    const strict = strictly(one);
    return egress === null ? strict : asked.naming(strict);
  };
  const openBeside = besides(withProxy, sandbox.level);
  const beside: OpenSibling = async (place) => withNotes(await openBeside(place));
  if (sandbox.level === 'none') {
    closing.own(() => sandbox.close());
    const warnings = allowed.length === 0 ? opened.warnings : [...opened.warnings, NOT_CONTAINED];
    session.record({ network: { allowed: null, hosts: hostsSoFar(session) } });
    closing.own(() => recordAsked(session, null));
    return { ...opened, warnings, beside };
  }
  session.record({ network: { allowed: [...allowed], hosts: hostsSoFar(session) } });
  closing.own(async () => {
    recordAsked(session, allowed);
    reportRefused(session);
  });
  // Closed first, so that no command sends another request.
  closing.own(() => sandbox.close());
  return { ...opened, sandbox: withNotes(sandbox), beside };
}

/** The same sandbox, whose strict scripts overlook no failure. The parser is loaded for those that could. */
function strictly(sandbox: Sandbox): Sandbox {
  return {
    ...sandbox,
    run: async (command) => {
      if (command.isStrict !== true || !/&&|!\s/.test(command.script)) return sandbox.run(command);
      const { strictScript } = await import('../../adapters/plan/strict-script.ts');
      return sandbox.run({ ...command, script: strictScript(command.script) });
    },
  };
}

/** Always of the first sandbox's level. Anything the disk has lost since then counts for it too. */
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
    if (opened.status !== 'ok') throw new LateRefusal(notOpened(opened));
    if (opened.sandbox.level === level) return opened.sandbox;
    await opened.sandbox.close();
    throw new Error(`The sandbox had level ${level} and now has only ${opened.sandbox.level}.`);
  };
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** What the journal records of it: a restriction that is not enforced is not claimed. */
export function keptHosts(
  { level }: Sandbox,
  { allowedDomains, allowedPrivate, services }: Permitted,
): Pick<RunStarted, keyof Permitted> {
  const kept = (entries: readonly string[]) => (level === 'none' ? [] : [...entries]);
  return {
    allowedDomains: kept(allowedDomains),
    allowedPrivate: kept(allowedPrivate),
    services: kept(services),
  };
}

/** All of them, for people and for the model. */
export function namesOf({ allowedDomains, allowedPrivate, services }: Permitted): string[] {
  return [...allowedDomains, ...allowedPrivate, ...services];
}

const NOT_CONTAINED = warning(
  'WARN_NO_EFFECT_WITHOUT_SANDBOX',
  '--allow-domain AND --service HAVE NO EFFECT: commands run without a sandbox, so they can reach whatever this machine can.',
);

/** Loaded only when needed. */
async function openEgress(
  { input, asked }: Session,
  { allowedDomains, allowedPrivate, services }: Permitted,
): Promise<SandboxNetwork> {
  const [{ openFilteringProxy }, { upstreamByEnvironment }] = await Promise.all([
    import('../../adapters/network/filtering-proxy.ts'),
    import('../../adapters/network/machine-proxy.ts'),
  ]);
  const upstream = upstreamByEnvironment(input.env);
  return openFilteringProxy({
    allowed: allowedDomains,
    privateHosts: allowedPrivate,
    services,
    upstream,
    onUsed: (use) => asked.used(use),
  });
}

/** Maximum number of hosts named in one warning. */
const MAX_NAMED = 10;

/** A run that ended before its first event, as when setup commands fail, has no state that would say it. */
function recordAsked(session: Session, allowed: readonly string[] | null): void {
  const { asked, result } = session;
  const before = { denied: { named: result.denied, count: result.deniedCount }, hosts: hostsSoFar(session) };
  const { denied, hosts } = withAskedHosts(before, asked.pending);
  const network = { allowed: allowed && [...allowed], hosts: [...hosts] };
  session.record({ network, denied: [...denied.named], deniedCount: denied.count });
}

/** Those of attempts, before one of them is brought in. */
function hostsSoFar({ result }: Session): HostUse[] {
  return result.network?.hosts ?? [];
}

function reportRefused(session: Session): void {
  const refused = refusedToCommands(session.asked.all);
  if (refused.length === 0) return;
  const named = refused.map(({ host, times }) => `${host} (${times})`);
  const flags = refused.flatMap(({ allow }) => allow ?? []);
  const how = flags.length === 0 ? '' : ` To allow what they need: ${flags.slice(0, MAX_NAMED).join(' ')}`;
  session.warn(
    'WARN_HOSTS_REFUSED',
    `Commands tried to reach hosts that are not allowed: ${listed(named, MAX_NAMED)}.${how}`,
  );
  const others = refused.filter(({ allow }) => allow === null).map(({ why }) => why);
  if (others.length > 0) session.warn('WARN_HOSTS_FORBIDDEN', `No flag allows ${listed(others, MAX_NAMED)}.`);
}

/** Closes in reverse order of opening. A failure to close says nothing about the work, so it is only reported. */
export class Closing {
  readonly #report: (failure: string) => void;
  #closers: (() => unknown)[] = [];
  #isClosed = false;

  constructor(report: (failure: string) => void) {
    this.#report = report;
  }

  /** Anything opened after the close, by work still in progress, is closed at once. `close` may return a promise. */
  own(close: () => unknown): void {
    if (this.#isClosed) void this.#end(close);
    else this.#closers.push(close);
  }

  /** Never rejects. Can be called twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const closers = this.#closers.splice(0).reverse();
    for (const close of closers) await this.#end(close);
  }

  async #end(close: () => unknown): Promise<void> {
    try {
      await close();
    } catch (error) {
      this.#report(error instanceof Error ? error.message : String(error));
    }
  }
}
