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
import { type Programs, runOnMachine } from './machine-command.ts';
import type { InputsGiven } from './read-inputs.ts';

/** The machine to be set up. */
export interface SetupMachine extends Programs {
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
    const failure = await runOnMachine(machine, { line, input, asRoot: true, seconds: MEND_S, signal });
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
async function whyNoSandbox({ machine, signal }: SandboxSetup): Promise<'not installed' | 'refused' | null> {
  if (machine.find('bwrap') === null) return 'not installed';
  const line = ['bwrap', '--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true'];
  const failure = await runOnMachine(machine, { line, seconds: CHECK_S, signal });
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
