/** Has a sandbox proven by one command through the full setup, with as much of what contains it as this machine permits. */

import { readFileSync, readlinkSync } from 'node:fs';
import type { CommandLimits } from '../../../domain/run/limits.ts';
import { shellWord } from '../../../domain/shell-word.ts';
import type { Sandbox } from '../../../ports.ts';
import { enforcedLimits } from '../command/limits.ts';
import { SandboxFailure } from '../command/supervised.ts';
import {
  type BubblewrapFeatures,
  type BubblewrapSetup,
  bubblewrapSandbox,
  hasNames,
  type KernelSetting,
  PID_MAX,
} from './start.ts';

const PROBE_MS = 30_000;

/** `unfiltered` is why there is no system call filter; null where there is one. */
type ProvenSandbox =
  | {
      status: 'ok';
      sandbox: Sandbox;
      unfiltered: string | null;
      /** What this machine refuses of the full sandbox, in words. */
      refused: readonly string[];
    }
  | { status: 'unavailable' | 'refused'; reason: string };

/** Asks for everything, and leaves out what exactly is refused. */
export async function prove(
  setup: Omit<BubblewrapSetup, 'features' | 'settings' | 'limits' | 'isFiltered'>,
  wanted: { readonly settings: readonly KernelSetting[]; readonly limits?: CommandLimits | undefined },
): Promise<ProvenSandbox> {
  const { network } = setup;
  const lowPort = network?.services.find(({ port }) => port < 1024);
  let features: BubblewrapFeatures = { disableUserns: true, tmpfsSize: true, hostname: true, ownProc: true };
  let { settings } = wanted;
  const attempt = (isFiltered = true) => {
    const isNumbered = settings.some(({ name }) => name === PID_MAX);
    const limits = enforcedLimits(wanted.limits, true, isNumbered);
    return probed({ ...setup, settings, limits, features, isFiltered });
  };
  let last = await attempt();
  while (last.status === 'failed') {
    const { failure } = last;
    const refused = REFUSALS.find(({ feature, said }) => features[feature] && said.test(failure));
    const unset = settings.find(({ name }) => failure.includes(name));
    if (refused === undefined && unset === undefined) break;
    if (refused !== undefined) features = { ...features, [refused.feature]: false };
    // Only what is below a /proc of its own can be set.
    settings = features.ownProc ? settings.filter((one) => refused !== undefined || one !== unset) : [];
    if (lowPort !== undefined && !hasNames({ network, settings }))
      return {
        status: 'refused',
        reason: `--service ${lowPort.name}: this machine permits no port below 1024 in a sandbox. Let the service listen at another.`,
      };
    last = await attempt();
  }
  const refused = REFUSALS.flatMap(({ feature, what }) => (features[feature] || what === null ? [] : [what]));
  if (network !== null && !hasNames({ network, settings })) refused.push('name server of its own');
  if (last.status === 'ok') return { ...last, refused };
  const [unfiltered = ''] = last.failure.split('\n');
  // Without the filter, only namespaces that are complete contain commands; if they do not, that is the reason to report.
  if (refused.length === 0) last = await attempt(false);
  if (last.status === 'ok') return { ...last, refused, unfiltered };
  const { explain, readMachineFacts } = await import('./unavailable.ts');
  return { status: 'unavailable', reason: explain(last.failure, readMachineFacts()) };
}

/**
 * What bubblewrap says where it cannot do something (`--size` came with 0.7, `--disable-userns` with 0.8), and what commands lack
 * then, if the system call filter does not make up for it.
 */
const REFUSALS: readonly { feature: keyof BubblewrapFeatures; said: RegExp; what: string | null }[] = [
  { feature: 'disableUserns', said: /disable-userns|max_user_namespaces/, what: null },
  { feature: 'tmpfsSize', said: /Unknown option --size/, what: null },
  { feature: 'hostname', said: /hostname/, what: 'host name of its own' },
  { feature: 'ownProc', said: /mount proc/, what: '/proc of its own' },
];

type Probed =
  | Omit<Extract<ProvenSandbox, { status: 'ok' }>, 'refused'>
  | { status: 'failed'; failure: string };

/** The sandbox if every assertion held, or what went wrong. */
async function probed(setup: BubblewrapSetup): Promise<Probed> {
  const { features, files, settings, isFiltered } = setup;
  const [pidNamespace, netNamespace] = ['pid', 'net'].map((name) => readlinkSync(`/proc/self/ns/${name}`));
  const failure = await failureOf(
    bubblewrapSandbox(forProbe(setup)),
    `pid=$(readlink /proc/self/ns/pid)
    [ -n "$pid" ] || fail '/proc is missing'
    [ "$pid" != '${pidNamespace}' ] || fail 'other processes are visible'
    read -r own rest < /proc/self/stat
    sh -c ${shellWord(FROM_ANOTHER_SHELL)} sh $own
    case $? in
      0) ;;
      2) fail 'the shell of a command can be traced' ;;
      *) fail '/proc is not its own' ;;
    esac
    ${features.ownProc ? `[ "$own" = $$ ] || fail '/proc is not its own'` : `if (: < /proc/${process.pid}/environ) 2> /dev/null || [ -e /proc/${process.pid}/root/proc ]; then fail 'the runner is visible'; fi`}
    [ "$(readlink /proc/self/ns/net)" != '${netNamespace}' ] || fail 'the network is shared'
    ${isFiltered ? filtersAssertion(1) : ''}
    ${settings.map(({ name, value }) => `read -r set < /proc/${name}; [ "$set" = ${value} ] || fail '/proc/${name} is not set'`).join('\n')}
    if (: < /proc/1/environ) 2> /dev/null; then fail 'process 1 can be traced'; fi
    [ ! -e ${shellWord(files)} ] || fail 'the run directory is visible'
    if (: > /usr/.patchsmith-probe) 2> /dev/null; then fail 'files outside the work tree can be written'; fi
    if (: >> /proc/sys/kernel/core_pattern) 2> /dev/null; then fail 'kernel settings can be written'; fi`,
  );
  if (failure !== null) return { status: 'failed', failure };
  return { status: 'ok', sandbox: bubblewrapSandbox(setup), unfiltered: null };
}

/**
 * Asked by another shell, since the kernel does not tell the namespaces of the copy that runs a command, and by one for both
 * questions: each program takes a millisecond or two of every start of a run.
 */
const FROM_ANOTHER_SHELL = `
  read -r own rest < /proc/self/stat
  [ /proc/self/ns/pid -ef "/proc/$own/ns/pid" ] || exit 1
  if (: < "/proc/$1/environ") 2> /dev/null; then exit 2; fi
  exit 0`;

/** The same setup for the command that proves it. */
export function forProbe<T extends Pick<BubblewrapSetup, 'folder' | 'env' | 'pipes'>>(setup: T): T {
  return {
    ...setup,
    // What has become of the working directory says nothing about the sandbox.
    folder: '',
    // In the C locale, which needs no files: bash starts with a warning if a locale is not installed. With the system's own
    // programs: a folder of the repository may be on PATH, and the covers are not known yet.
    env: { ...setup.env, LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    // The others are for the commands of the run.
    pipes: { open: setup.pipes.open.bind(setup.pipes), close: () => undefined },
  };
}

/** Checks assertions in that sandbox, which is closed then: null if all hold, or what went wrong. They call `fail` with what is wrong. */
export async function failureOf(sandbox: Sandbox, assertions: string): Promise<string | null> {
  try {
    const { end, output } = await sandbox.run({
      script: `fail() { echo "$1"; exit 1; }\n${assertions}\necho contained`,
      timeoutMs: PROBE_MS,
      signal: new AbortController().signal,
    });
    if (end.timedOut) return `the probe took longer than ${PROBE_MS / 1000} s`;
    const said = `${output.head}${output.tail}`;
    return said.startsWith('contained\n') ? null : said.trim() || 'the probe did not run';
  } catch (error) {
    if (error instanceof SandboxFailure) return error.message;
    throw error;
  } finally {
    await sandbox.close();
  }
}

/** That commands have so many filters more than we. The kernel reports their number; before Linux 5.9, only that there is one. */
export function filtersAssertion(added: number): string {
  const outside = /^Seccomp_filters:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  const [name, value] = outside === undefined ? ['Seccomp', 2] : ['Seccomp_filters', Number(outside) + added];
  return `filtered=
    while read -r name value; do [ "$name" != ${name}: ] || filtered=$value; done < /proc/self/status
    [ "$filtered" = ${value} ] || fail 'the system call filter is missing'`;
}
