/** Chooses how commands are contained, once for a whole run. */

import { mkdir, mkdtemp, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execPath, getuid } from 'node:process';
import type { AgentGit, Sandbox } from '../../ports.ts';
import { bubblewrapSandbox } from './bubblewrap.ts';
import { GIT_CONFIG_INSIDE, HOME_INSIDE, mountsOf } from './bubblewrap-mounts.ts';
import { CANARY, featuresOf, probe } from './bubblewrap-probe.ts';
import { commandEnvironment, gitConfig } from './environment.ts';
import { realPathOf, statOf } from './host-files.ts';
import { uncontained } from './none.ts';
import { killMarked } from './process-table.ts';
import { findProgram, findShell } from './shell.ts';
import { findToolchains, searchPath, toolchainVariables } from './toolchains.ts';
import { explain, NOT_INSTALLED, readMachineFacts } from './unavailable.ts';

/** `required`: bubblewrap or nothing. `auto`: bubblewrap, else without, said loudly. `off`: without. */
export type SandboxMode = 'required' | 'auto' | 'off';

export interface SandboxOptions {
  readonly mode: SandboxMode;
  /** Absolute path of the work tree's root: every command starts there. */
  readonly root: string;
  /** Absolute path at which contained commands see the work tree; its own when left out. */
  readonly shownAs?: string;
  readonly agentGit: AgentGit;
  /** A folder of ours outside the work tree; made when it is missing. Whoever owns it empties it after `close`. */
  readonly scratchDir: string;
  /** The environment that toolchains are found by. Commands get little of it. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
}

export type OpenedSandbox =
  /** `warnings` are sentences for people. */
  | { status: 'ok'; sandbox: Sandbox; warnings: string[] }
  /** `reason` names the cause and its mend. */
  | { status: 'unavailable'; reason: string };

/** Rejects only for a broken machine. */
export async function openSandbox(options: SandboxOptions): Promise<OpenedSandbox> {
  if (options.mode === 'off') return { status: 'ok', sandbox: await openUncontained(options), warnings: [] };
  const opened = await openBubblewrap(options);
  if (opened.status === 'ok' || options.mode === 'required') return opened;
  const warning = `COMMANDS RUN WITHOUT A SANDBOX: they can read and write everything you can. ${opened.reason}`;
  return { status: 'ok', sandbox: await openUncontained(options), warnings: [warning] };
}

/**
 * Ends what a runner that was killed has left running. In a sandbox everything dies with its runner; without one a command
 * goes on, and is known by the git dir that it was given.
 */
export function endLeftovers(agentGitDir: string): Promise<void> {
  return killMarked(`GIT_DIR=${agentGitDir}`);
}

async function openBubblewrap(options: SandboxOptions): Promise<OpenedSandbox> {
  const { root, shownAs: at = root, agentGit, hostEnv } = options;
  const program = findProgram('bwrap');
  if (program === null) return { status: 'unavailable', reason: NOT_INSTALLED };
  if (isLink(join(root, '.git'))) {
    return {
      status: 'unavailable',
      reason: `${join(root, '.git')} is a symbolic link: the sandbox cannot cover it. Make it a folder, or a file that says gitdir.`,
    };
  }

  // The program is asked while the machine is looked at.
  const [features, files, { homes, toolchains }] = await Promise.all([
    featuresOf(program),
    ownFolder(options),
    lookAround(options),
  ]);
  if (features === 'too old') {
    return { status: 'unavailable', reason: 'This bubblewrap is too old: 0.5 or later is needed.' };
  }
  const view = { root, at, agentGit, files, gitConfig: gitConfig(at), toolchains: toolchains.mounts };
  const { mounts, variables } = await mountsOf(view);
  const env = commandEnvironment({
    hostEnv,
    path: toolchains.path,
    home: HOME_INSIDE,
    gitConfig: GIT_CONFIG_INSIDE,
    toolchains: toolchains.variables,
  });
  const setup = {
    program,
    features,
    shell: findShell(),
    directory: at,
    mounts,
    env: { ...env, ...variables },
    outerEnv: {},
    files,
  };
  const sandbox = bubblewrapSandbox(setup);
  const probed = bubblewrapSandbox({ ...setup, outerEnv: { [CANARY]: 'outside' } });
  const failure = await probe(probed, files).finally(() => probed.close());
  if (failure !== null) {
    await sandbox.close();
    return { status: 'unavailable', reason: explain(failure, readMachineFacts()) };
  }
  return { status: 'ok', sandbox, warnings: await warningsAbout(root, homes) };
}

/** The toolchains that commands may see, and the home folders that they may not. */
async function lookAround({ root, shownAs = root, agentGit, hostEnv, scratchDir }: SandboxOptions) {
  const homes = bothNames(hostEnv.HOME === undefined ? [] : [hostEnv.HOME]);
  const toolchains = findToolchains({
    env: hostEnv,
    execPath,
    boundaries: {
      homes,
      roots: bothNames([root, shownAs]),
      offLimits: bothNames([scratchDir, agentGit.gitDir, dirname(agentGit.objects)]),
    },
  });
  return { homes, toolchains };
}

async function openUncontained(options: SandboxOptions): Promise<Sandbox> {
  const { root, agentGit, hostEnv } = options;
  const files = await ownFolder(options);
  const home = join(files, 'home');
  await mkdir(home);
  const config = join(files, 'gitconfig');
  await writeFile(config, gitConfig(root));
  const env = commandEnvironment({
    hostEnv,
    path: searchPath(hostEnv),
    home,
    gitConfig: config,
    toolchains: toolchainVariables(hostEnv),
  });
  const git = { GIT_DIR: agentGit.gitDir, GIT_WORK_TREE: root };
  return uncontained({ shell: findShell(), root, env: { ...env, ...git }, files });
}

async function ownFolder({ scratchDir }: SandboxOptions): Promise<string> {
  await mkdir(scratchDir, { recursive: true });
  return mkdtemp(join(scratchDir, 'sandbox-'));
}

async function warningsAbout(root: string, homes: readonly string[]): Promise<string[]> {
  const warnings: string[] = [];
  const { uid } = await stat(root);
  if (getuid?.() === 0 && uid !== 0) {
    warnings.push(
      `The work tree belongs to user ${uid}: commands run as root without root's privileges and may be unable to write there.`,
    );
  }
  if (bothNames([root]).some((path) => homes.includes(path))) {
    warnings.push('The work tree is the home folder: commands can read everything in it.');
  }
  return warnings;
}

/** Each path as it is named and as it resolves. */
function bothNames(paths: readonly string[]): string[] {
  const resolved = paths.map(realPathOf);
  return [...new Set([...paths, ...resolved.filter((path) => path !== null)])];
}

function isLink(path: string): boolean {
  return statOf(path)?.isSymbolicLink() ?? false;
}
