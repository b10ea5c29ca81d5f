/** Finds bubblewrap and proves, by one command through the full setup, that it contains what it promises to contain. */

import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Sandbox } from '../../../ports.ts';
import { type BubblewrapFeatures, PID_MAX } from './args.ts';
import { BubblewrapFailure } from './contained.ts';
import type { BubblewrapSetup } from './setup.ts';

/** A variable in bubblewrap's own environment that must not be visible inside. */
export const CANARY = 'PATCHSMITH_CANARY';

const PROBE_MS = 30_000;

/** The features of the newest bubblewrap. */
export const NEWEST: BubblewrapFeatures = { disableUserns: true, tmpfsSize: true };

/** `--clearenv` came with 0.5, `--size` with 0.7, `--disable-userns` with 0.8 (bubblewrap's NEWS.md). */
export async function featuresOf(program: string): Promise<BubblewrapFeatures | 'too old'> {
  const { stdout } = await promisify(execFile)(program, ['--version'], { env: {}, timeout: PROBE_MS });
  const [, major = '0', minor = '0'] = /(\d{1,9})\.(\d{1,9})/.exec(stdout) ?? [];
  const version = Number(major) * 1000 + Number(minor);
  if (version < 5) return 'too old';
  return { disableUserns: version >= 8, tmpfsSize: version >= 7 };
}

/** `lookedUp` is what the script printed that was to be run at the end. */
export type Probed =
  | { readonly status: 'contained'; readonly lookedUp: string | null }
  | { readonly status: 'failed'; readonly failure: string };

/** What is printed when every assertion held. */
const CONTAINED = 'contained\n';

/**
 * Whether every assertion held, or what went wrong. `files` is a path that must not exist inside. Once they have held, the same
 * command runs `lookup`: a sandbox of its own would cost every start of a run five programs.
 */
export async function probe(
  sandbox: Sandbox,
  { files, numbers }: Pick<BubblewrapSetup, 'files' | 'numbers'>,
  lookup: { readonly script: string; readonly path: string } | null,
): Promise<Probed> {
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
    echo contained
    ${lookup === null ? '' : `PATH=${quoted(lookup.path)}\n${lookup.script}`}`;
  try {
    const { end, output } = await sandbox.run({
      script,
      timeoutMs: PROBE_MS,
      signal: new AbortController().signal,
    });
    if (end.timedOut) return failedProbe(`the probe took longer than ${PROBE_MS / 1000} s`);
    const said = `${output.head}${output.tail}`;
    if (!said.startsWith(CONTAINED)) return failedProbe(said.trim() || 'the probe did not run');
    return { status: 'contained', lookedUp: lookup === null ? null : said.slice(CONTAINED.length) };
  } catch (error) {
    // bubblewrap's message when the machine does not let it work.
    if (error instanceof BubblewrapFailure) return failedProbe(error.message);
    throw error;
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
