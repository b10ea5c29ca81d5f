/** A small real repository with a throwaway git dir beside it, and a sandbox opened on them. */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { openSandbox } from '../../../src/adapters/sandboxes/open.ts';
import type { OpenedSandbox, SandboxMode } from '../../../src/adapters/sandboxes/options.ts';
import { type CommandLimits, DEFAULT_COMMAND_LIMITS } from '../../../src/domain/run/limits.ts';
import type { SandboxNetwork } from '../../../src/ports/network.ts';
import type { SandboxGitDir } from '../../../src/ports/workspace.ts';
import type { CommandResult, Sandbox } from '../../../src/ports.ts';
import { git, tempFolder } from '../../support/files/temp-folder.ts';
import { PATIENCE_MS } from '../../support/waiting/patience.ts';

export interface Place {
  readonly root: string;
  readonly sandboxGitDir: SandboxGitDir;
  /** The run directory: everything of ours lies in it. */
  readonly runDir: string;
}

export interface Opened extends Place {
  readonly sandbox: Sandbox;
  readonly warnings: readonly string[];
  run(
    script: string,
    options?: { timeoutMs?: number; signal?: AbortSignal; isStrict?: boolean },
  ): Promise<CommandResult>;
  /** What a command printed, from start to end; fails when it did not exit with 0. */
  text(script: string): Promise<string>;
}

export type HostEnv = Readonly<Record<string, string | undefined>>;

/** A repository with one commit of `hello.txt`; `below` is where in its temporary folder the work tree stands. */
export function makePlace(below = 'repo'): Place {
  const folder = tempFolder();
  const root = join(folder, below);
  mkdirSync(root, { recursive: true });
  git(root, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(join(root, 'hello.txt'), 'hello\n');
  git(root, 'add', '.');
  git(root, 'commit', '--quiet', '--message', 'Start');
  return placeOf(root, join(folder, 'run'));
}

/** Makes the throwaway git dir: refs, index and a plain config, with the real store as its alternate. */
export function placeOf(root: string, runDir: string): Place {
  const common = resolve(root, git(root, 'rev-parse', '--git-common-dir').trim());
  const own = resolve(root, git(root, 'rev-parse', '--git-dir').trim());
  const objects = join(realpathSync(common), 'objects');
  const gitDir = join(runDir, 'agent.git');
  mkdirSync(join(gitDir, 'objects/info'), { recursive: true });
  cpSync(join(common, 'refs'), join(gitDir, 'refs'), { recursive: true });
  for (const name of ['HEAD', 'index'])
    cpSync(join(own, name), join(gitDir, name), { preserveTimestamps: true });
  writeFileSync(
    join(gitDir, 'config'),
    '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n',
  );
  writeFileSync(join(gitDir, 'objects/info/alternates'), `${objects}\n`);
  return { root, sandboxGitDir: { gitDir, objects, dotGitIsFile: own !== common, nested: [] }, runDir };
}

/** The result of opening, whatever it is; an opened sandbox is closed when the test has finished. */
export async function tryToOpen(
  place: Place,
  mode: SandboxMode,
  hostEnv: HostEnv,
  limits = DEFAULT_COMMAND_LIMITS,
  mounts: readonly string[] = [],
  network: SandboxNetwork | null = null,
): Promise<OpenedSandbox> {
  const { root, sandboxGitDir, runDir } = place;
  const opened = await openSandbox({
    mode,
    root,
    sandboxGitDir,
    scratchDir: join(runDir, 'scratch'),
    hostEnv,
    limits,
    mounts,
    network,
  });
  if (opened.status === 'ok') onTestFinished(() => opened.sandbox.close());
  return opened;
}

export async function open(
  place: Place,
  mode: SandboxMode,
  hostEnv: HostEnv = process.env,
  limits: CommandLimits = DEFAULT_COMMAND_LIMITS,
  mounts: readonly string[] = [],
  network: SandboxNetwork | null = null,
): Promise<Opened> {
  const opened = await tryToOpen(place, mode, hostEnv, limits, mounts, network);
  if (opened.status !== 'ok') throw new Error(opened.reason);
  const { sandbox, warnings } = opened;
  const run: Opened['run'] = (script, options = {}) =>
    sandbox.run({
      script,
      timeoutMs: options.timeoutMs ?? PATIENCE_MS,
      signal: options.signal ?? new AbortController().signal,
      isStrict: options.isStrict ?? false,
    });
  return {
    ...place,
    sandbox,
    warnings,
    run,
    async text(script) {
      const { end, output } = await run(script);
      if (end.exitCode !== 0) throw new Error(`${JSON.stringify(end)}\n${output.head}${output.tail}`);
      return output.head + output.tail;
    },
  };
}

/** A program of the host as PATH finds it, run outside; null when it does not run there. */
export function versionOutside(command: string): string | null {
  try {
    return execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return null;
  }
}

/** The project's own folder, for programs that are started as processes of their own. */
export const PROJECT = dirname(dirname(dirname(import.meta.dirname)));
