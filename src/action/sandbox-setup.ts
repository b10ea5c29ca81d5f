/**
 * The sandbox on GitHub-hosted runners: bubblewrap is not installed there, and AppArmor does not let it create
 * namespaces. Both can be fixed without asking: the machine belongs to one job, and the job may use sudo.
 */

import { getuid, platform } from 'node:process';
import {
  APPARMOR_PROFILE,
  APPARMOR_PROFILE_PATH,
  forbidsNamespaces,
  type MachineFacts,
  readMachineFacts,
} from '../adapters/sandboxes/bubblewrap/unavailable.ts';
import { findProgram } from '../adapters/sandboxes/command/shell.ts';
import type { Environment } from '../domain/environment.ts';
import { raceAbort } from '../host/deadline.ts';
import type { InputsGiven } from './read-inputs.ts';

/** The machine to be set up. */
export interface SetupMachine {
  /** The absolute path of a program, or null. */
  find(name: string): string | null;
  /** Whether commands have root's rights without sudo. */
  readonly isRoot: boolean;
  facts(): MachineFacts;
}

/** This machine, with the programs of its own folders: PATH may lead into the checkout. */
export const THIS_MACHINE: SetupMachine = {
  find: (name) => findProgram(name, ['/usr/sbin', '/sbin']),
  isRoot: getuid?.() === 0,
  facts: readMachineFacts,
};

/** True for a step that runs commands in a sandbox, on a Linux machine that GitHub made for this job. */
export function isSetupDue(
  { mode, sandboxSetup, flags }: Pick<InputsGiven, 'mode' | 'sandboxSetup' | 'flags'>,
  env: Environment,
): boolean {
  const isHosted = env.RUNNER_ENVIRONMENT === 'github-hosted' && platform === 'linux';
  const sandbox = (flags.run ?? flags.resume)?.sandbox ?? env.PATCHSMITH_SANDBOX;
  return (
    isHosted &&
    sandboxSetup === 'auto' &&
    (mode === 'run' || mode === 'resume' || mode === 'run-and-publish') &&
    sandbox?.trim() !== 'off'
  );
}

/** What a setup does next. */
export interface SandboxSetup {
  readonly machine: SetupMachine;
  /** Ends the command that is running, and begins no other. */
  readonly signal: AbortSignal;
  /** Called with one line per step; not at all if there is nothing to do. */
  say(line: string): void;
}

/** Null when bubblewrap works, otherwise a sentence that says what failed. */
export async function setUpSandbox(setup: SandboxSetup): Promise<string | null> {
  const { machine, signal, say } = setup;
  let problem = await whyNoSandbox(setup);
  if (problem === null) return null;
  const failures: string[] = [];
  const repair = async (line: readonly string[], input = '') => {
    const failure = await runOnMachine(setup, line, { input, asRoot: !machine.isRoot, seconds: MEND_S });
    if (failure !== null) failures.push(`${line.slice(0, 2).join(' ')}: ${failure}`);
    return failure === null;
  };
  if (problem === 'not installed') {
    say('bubblewrap is not installed: apt-get update, apt-get install bubblewrap');
    // One source that does not answer is no reason to give up: bubblewrap may come from another.
    await repair(['apt-get', 'update', '-q']);
    if (await repair(INSTALL)) failures.length = 0;
    problem = await whyNoSandbox(setup);
  }
  if (problem === 'refused' && !signal.aborted && forbidsNamespaces(machine.facts())) {
    say(
      `AppArmor does not let bubblewrap create namespaces: loading ${APPARMOR_PROFILE_PATH}, which permits it`,
    );
    const isWritten = await repair(['tee', APPARMOR_PROFILE_PATH], APPARMOR_PROFILE);
    if (isWritten) await repair(['apparmor_parser', '-r', APPARMOR_PROFILE_PATH]);
    problem = await whyNoSandbox(setup);
  }
  // The run says it: it ends as interrupted.
  if (signal.aborted) return null;
  if (problem === null) {
    say('bubblewrap works');
    return null;
  }
  const failed = `The action could not set up the sandbox: ${failures.join('; ') || NOTHING_TO_FIX}`;
  say(failed);
  return failed;
}

const NOTHING_TO_FIX = 'it cannot fix why bubblewrap does not work here';

/** Null if bubblewrap works, with the namespaces and mounts that a run needs. The run itself tests everything. */
async function whyNoSandbox(setup: SandboxSetup): Promise<'not installed' | 'refused' | null> {
  if (setup.machine.find('bwrap') === null) return 'not installed';
  const line = ['bwrap', '--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true'];
  const failure = await runOnMachine(setup, line, { input: '', asRoot: false, seconds: CHECK_S });
  return failure === null ? null : 'refused';
}

const INSTALL = [
  'apt-get',
  'install',
  '-y',
  '-q',
  '--no-install-recommends',
  // A machine that has just been started may still be installing updates.
  '-o',
  'DPkg::Lock::Timeout=60',
  'bubblewrap',
];

const MEND_S = 180;
const CHECK_S = 30;

/**
 * Runs a program of the machine for a bounded time, with nothing of this process's environment; `asRoot` by sudo. Null when it
 * succeeded, otherwise why it did not: the last line that it printed, where it printed something.
 */
async function runOnMachine(
  { machine, signal }: SandboxSetup,
  [name = '', ...args]: readonly string[],
  { input, asRoot, seconds }: { input: string; asRoot: boolean; seconds: number },
): Promise<string | null> {
  if (signal.aborted) return INTERRUPTED;
  const wanted = ['timeout', name, ...(asRoot ? ['sudo', 'kill'] : [])];
  const missing = wanted.find((one) => machine.find(one) === null);
  if (missing !== undefined) return `there is no ${missing}`;
  const [timeout = '', program = '', sudo = '', kill = ''] = wanted.map((one) => machine.find(one) ?? '');
  const line = [timeout, `--kill-after=${GRACE_S}`, String(seconds), program, ...args];
  // Few jobs need their machine set up.
  const { execa } = await import('execa');
  const options = { env: ENVIRONMENT, extendEnv: false, reject: false, forceKillAfterDelay: false } as const;
  const [first = '', ...words] = asRoot ? [sudo, '-n', ...line] : line;
  // Its own process group: sudo does not forward signals from its own group.
  const running = execa(first, words, { ...options, cwd: '/', detached: true, input, all: true });
  const giveUp = new AbortController();
  const giveUpAfter = (delayS: number) => setTimeout(() => giveUp.abort(), delayS * 1_000).unref();
  giveUpAfter(seconds + 2 * GRACE_S);
  const end = () => {
    giveUpAfter(2 * GRACE_S);
    // Only root may signal what runs as root. timeout passes it on to the program and to what that has started.
    if (!asRoot) running.kill('SIGTERM');
    else void execa(sudo, ['-n', kill, '-TERM', String(running.pid)], { ...options, stdio: 'ignore' });
  };
  signal.addEventListener('abort', end, { once: true });
  const ended = await raceAbort(giveUp.signal, running);
  signal.removeEventListener('abort', end);
  if (ended === null) {
    running.unref();
    for (const stream of [running.stdin, running.stdout, running.stderr]) stream.destroy();
  }
  if (signal.aborted) return INTERRUPTED;
  if (ended === null || ended.exitCode === TIMED_OUT) return `it took longer than ${seconds} s`;
  const { exitCode, signal: killedBy, originalMessage, all } = ended;
  if (exitCode === 0) return null;
  const said = all.trimEnd().split('\n').at(-1)?.trim();
  return said || (originalMessage ?? `exit code ${exitCode ?? killedBy}`);
}

/** Keys and tokens are not in it, and nothing that could lead to other programs. */
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C.UTF-8',
};

const INTERRUPTED = 'the step was cancelled';

/** Seconds until a program that ignores the signal to end is killed. */
const GRACE_S = 2;

/** The exit code of `timeout` when it had to end the program. */
const TIMED_OUT = 124;
