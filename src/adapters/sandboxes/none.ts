/** Commands that nothing contains: they have limits, an environment from an allow-list, and an end. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { arch } from 'node:process';
import type { Sandbox } from '../../ports.ts';
import { enforcedLimits } from './command/limits.ts';
import { OutputPipes } from './command/output-pipe.ts';
import { findShell } from './command/shell.ts';
import { findLauncher, type LaunchedSetup, launchedSandbox, whyNoLauncher } from './launched.ts';
import { ownFolder, type SandboxOptions } from './options.ts';
import { commandEnvironment, gitConfig } from './visible/environment.ts';
import { outsidePath, searchPath, toolchainVariables } from './visible/toolchains.ts';

/** Opens what runs commands where nothing contains them. */
export async function openUncontained(options: SandboxOptions): Promise<Uncontained> {
  const { root, folder = '', sandboxGitDir, hostEnv, limits } = options;
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
  const git = { GIT_DIR: sandboxGitDir.gitDir, GIT_WORK_TREE: root };
  return uncontained({
    root,
    folder,
    env: { ...env, ...git },
    files,
    limits: enforcedLimits(limits, false),
    writable: [root, files, '/tmp'],
  });
}

/** The variables that a program outside of the sandbox has besides its own: nothing that may be secret. */
const FROM_HOST = ['HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/**
 * Opens what runs programs that the operator wants outside of the sandbox. They are limited and ended like commands, and see the
 * machine. They start in an empty folder, and find no programs in the work tree, so that none of them is run outside by accident.
 */
export async function openOutside(
  options: Pick<SandboxOptions, 'scratchDir' | 'hostEnv' | 'limits' | 'root'>,
): Promise<Sandbox> {
  const { hostEnv, limits, root: tree } = options;
  const files = await ownFolder(options);
  const root = join(files, 'folder');
  await mkdir(root);
  const PATH = outsidePath(hostEnv, tree).join(':');
  const given = FROM_HOST.flatMap((name) => {
    const value = hostEnv[name];
    return value === undefined ? [] : [[name, value]];
  });
  const env = { ...Object.fromEntries(given), PATH };
  const enforced = enforcedLimits(limits, false);
  const opened = uncontained({ root, folder: '', env, files, limits: enforced, writable: [files] });
  if (opened.status !== 'ok') throw new Error(opened.reason);
  return opened.sandbox;
}

/** A sandbox of a folder that a launcher gives nothing but limits and an end. */
function uncontained(
  given: Pick<LaunchedSetup, 'root' | 'folder' | 'env' | 'files' | 'limits' | 'writable'>,
): Uncontained {
  const launcher = findLauncher(arch);
  if (launcher === null) return { status: 'unavailable', reason: whyNoLauncher(arch) };
  const sandbox = launchedSandbox({
    level: 'none',
    launcher,
    shell: findShell(),
    ...given,
    rules: [],
    kept: () => [],
    network: null,
    pipes: new OutputPipes(given.files),
  });
  return { status: 'ok', sandbox };
}

type Uncontained = { status: 'ok'; sandbox: Sandbox } | { status: 'unavailable'; reason: string };
