/** Has a sandbox proven by one command through the full setup, with as much of what contains it as this machine permits. */

import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { arch } from 'node:process';
import { promisify } from 'node:util';
import type { Sandbox } from '../../../ports.ts';
import { type BubblewrapFeatures, PID_MAX } from './args.ts';
import { BubblewrapFailure } from './contained.ts';
import { NOT_LISTENING } from './listeners.ts';
import type { BubblewrapSetup } from './setup.ts';
import { bubblewrapSandbox } from './start.ts';

/** A variable in bubblewrap's own environment that must not be visible inside. */
const CANARY = 'PATCHSMITH_CANARY';

const PROBE_MS = 30_000;

/** The features of the newest bubblewrap. */
const NEWEST: BubblewrapFeatures = { disableUserns: true, tmpfsSize: true };

/** `unfiltered` is why there is no system call filter; null where there is one. */
type ProvenSandbox =
  | { status: 'ok'; sandbox: Sandbox; unfiltered: string | null }
  | { status: 'unavailable'; reason: string };

/** Assumes the newest bubblewrap, which saves asking for its version on every start, and asks only if that fails. */
export async function prove(setup: Omit<BubblewrapSetup, 'features'>): Promise<ProvenSandbox> {
  const { filter } = setup;
  const tried = (features: BubblewrapFeatures, with_ = filter) =>
    probed({ ...setup, features, filter: with_ });
  const best = await tried(NEWEST);
  if (best.status === 'ok' && filter !== null) return best;
  const features = await featuresOf(setup.program);
  if (features === 'too old')
    return { status: 'unavailable', reason: 'This bubblewrap is too old: 0.5 or later is needed.' };
  const isNewest = features.disableUserns && features.tmpfsSize;
  const second = isNewest ? best : await tried(features);
  if (second.status === 'ok' && filter !== null) return second;
  // Even without the filter the namespaces contain commands; if they do not, that is the reason to report.
  const last = filter === null ? second : await tried(features, null);
  if (last.status === 'failed') {
    const { explain, readMachineFacts } = await import('./unavailable.ts');
    return { status: 'unavailable', reason: explain(last.failure, readMachineFacts()) };
  }
  // Both processes of bubblewrap may print it, at the same time.
  const failure = second.status === 'failed' ? second.failure.split('\n')[0] : undefined;
  return { ...last, unfiltered: failure ?? `it cannot be made for ${arch}` };
}

/** `--clearenv` came with 0.5, `--size` with 0.7, `--disable-userns` with 0.8 (bubblewrap's NEWS.md). */
async function featuresOf(program: string): Promise<BubblewrapFeatures | 'too old'> {
  const { stdout } = await promisify(execFile)(program, ['--version'], { env: {}, timeout: PROBE_MS });
  const [, major = '0', minor = '0'] = /(\d{1,9})\.(\d{1,9})/.exec(stdout) ?? [];
  const version = Number(major) * 1000 + Number(minor);
  if (version < 5) return 'too old';
  return { disableUserns: version >= 8, tmpfsSize: version >= 7 };
}

type Probed = Extract<ProvenSandbox, { status: 'ok' }> | { status: 'failed'; failure: string };

/** What is printed when every assertion held. */
const CONTAINED = 'contained\n';

/** The sandbox if every assertion held, or what went wrong. */
async function probed(setup: BubblewrapSetup): Promise<Probed> {
  const { files, numbers, pipes } = setup;
  const sandbox = bubblewrapSandbox({
    ...setup,
    // What has become of the working directory says nothing about the sandbox.
    folder: '',
    // In the C locale, which needs no files: bash starts with a warning if a locale is not installed. With the system's own
    // programs: a folder of the repository may be on PATH, and the covers are not known yet.
    env: { ...setup.env, LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    outerEnv: { [CANARY]: 'outside' },
    // The others are for the commands of the run.
    pipes: { open: (onBytes) => pipes.open(onBytes), close: () => undefined },
  });
  const [pidNamespace, netNamespace] = ['pid', 'net'].map((name) => readlinkSync(`/proc/self/ns/${name}`));
  const script = `
    fail() { echo "$1"; exit 1; }
    [ -z "\${${CANARY}+set}" ] || fail 'environment variables reach commands'
    pid=$(readlink /proc/self/ns/pid)
    [ -n "$pid" ] || fail '/proc is missing'
    [ "$pid" != '${pidNamespace}' ] || fail 'other processes are visible'
    sh -c ${quoted(FROM_ANOTHER_SHELL)} sh $$
    case $? in
      0) ;;
      2) fail 'the shell of a command can be traced' ;;
      *) fail '/proc is not its own' ;;
    esac
    [ "$(readlink /proc/self/ns/net)" != '${netNamespace}' ] || fail 'the network is shared'
    ${filterAssertion(sandbox)}
    ${numbers === null ? '' : `read -r most < /proc/${PID_MAX}; [ "$most" = ${numbers.count} ] || fail '/proc/${PID_MAX} is not limited'`}
    if (: < /proc/1/environ) 2> /dev/null; then fail 'process 1 can be traced'; fi
    [ ! -e ${quoted(files)} ] || fail 'the run directory is visible'
    if (: > /usr/.patchsmith-probe) 2> /dev/null; then fail 'files outside the work tree can be written'; fi
    if (: >> /proc/sys/kernel/core_pattern) 2> /dev/null; then fail 'kernel settings can be written'; fi
    echo contained`;
  try {
    const { end, output } = await sandbox.run({
      script,
      timeoutMs: PROBE_MS,
      signal: new AbortController().signal,
    });
    if (end.timedOut) return failedProbe(`the probe took longer than ${PROBE_MS / 1000} s`);
    const said = `${output.head}${output.tail}`;
    if (said.startsWith(NOT_LISTENING)) return failedProbe(NOT_LISTENING);
    if (!said.startsWith(CONTAINED)) return failedProbe(said.trim() || 'the probe did not run');
    return { status: 'ok', sandbox: bubblewrapSandbox(setup), unfiltered: null };
  } catch (error) {
    // bubblewrap's message when the machine does not let it work.
    if (error instanceof BubblewrapFailure) return failedProbe(error.message);
    throw error;
  } finally {
    await sandbox.close();
  }
}

function failedProbe(failure: string): Probed {
  return { status: 'failed', failure };
}

/**
 * Asked by another shell, since the kernel does not tell the namespaces of the copy that runs a command, and by one for both
 * questions: each program takes a millisecond or two of every start of a run.
 */
const FROM_ANOTHER_SHELL = `
  [ /proc/self/ns/pid -ef "/proc/$$/ns/pid" ] || exit 1
  if (: < "/proc/$1/environ") 2> /dev/null; then exit 2; fi
  exit 0`;

/** The kernel reports the number of a process's filters; before Linux 5.9, only that there is one. */
function filterAssertion({ level }: Sandbox): string {
  if (level !== 'namespaces+seccomp') return '';
  const outside = /^Seccomp_filters:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  const [name, value] = outside === undefined ? ['Seccomp', 2] : ['Seccomp_filters', Number(outside) + 1];
  return `
    filtered=
    while read -r name value; do [ "$name" != ${name}: ] || filtered=$value; done < /proc/self/status
    [ "$filtered" = ${value} ] || fail 'the system call filter is missing'`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
