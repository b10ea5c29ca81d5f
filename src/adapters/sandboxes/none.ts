/**
 * Commands without containment: a separate process group, an environment from an allow-list, and cleanup of leftover processes.
 */

import { type IOType, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandLimits } from '../../domain/run/limits.ts';
import type { Sandbox } from '../../ports.ts';
import { enforcedLimits } from './command/limits.ts';
import { OutputPipes } from './command/output-pipe.ts';
import { killMarked, killNow } from './command/process-table.ts';
import { findShell, lastingCommand, limitedCommand, scriptCommand } from './command/shell.ts';
import { spawnCommand } from './command/spawn.ts';
import { supervised } from './command/supervised.ts';
import { usageOfMarked } from './command/usage.ts';
import { readText } from './host-files.ts';
import { ownFolder, type SandboxOptions } from './options.ts';
import { commandEnvironment, gitConfig } from './visible/environment.ts';
import { outsidePath, searchPath, toolchainVariables } from './visible/toolchains.ts';

/** Opens what runs commands where nothing contains them. */
export async function openUncontained(options: SandboxOptions): Promise<Sandbox> {
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
    limits,
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
  return uncontained({ root, folder: '', env, files, limits, writable: [files] });
}

/** What commands without a sandbox are run with. */
interface NoneSetup {
  readonly root: string;
  /** Commands start in this folder of it. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: CommandLimits | undefined;
  /** Paths on the disks that commands are most likely to write to. */
  readonly writable: readonly string[];
  /** A private folder, removed with the sandbox. */
  readonly files: string;
}

/** Every process of a command inherits this variable, whatever session or parent it moves to. */
const MARK = 'SANDBOX_COMMAND';

/** Held open by this process alone, so that a program that is talked to does not live longer. */
const LIFELINE_FD = 3;

function uncontained({ root, folder, env: shared, limits: asked, files, writable }: NoneSetup): Sandbox {
  const shell = findShell();
  const limits = enforcedLimits(asked, false);
  const pipes = new OutputPipes(files);
  const foreign = new ForeignDescriptors();
  const traits = { level: 'none' as const, limits, files, pipes, writable };
  const sandbox = supervised(traits, async ({ isStrict = false, talk, env }, { script, onBytes }) => {
    const run = { line: scriptCommand({ program: shell, name: shell, isStrict }, script), limits, folder };
    const [program = '', ...args] = talk ? lastingCommand(run, LIFELINE_FD) : limitedCommand(run);
    const mark = randomUUID();
    const options = { cwd: root, env: { ...shared, ...env, [MARK]: mark }, detached: true };
    const { child, output, ended } = await spawnCommand({ pipes, onBytes, talk, errorsFd: 2 }, (...own) => {
      const stdio = foreign.withNothingElse([...own, ...(talk ? (['pipe'] as const) : [])]);
      return spawn(program, args, { ...options, stdio });
    });
    const lifeline = child.stdio.at(LIFELINE_FD);
    // Its other end is closed with the program.
    lifeline?.on('error', () => lifeline.destroy());
    return {
      exited: ended,
      output,
      usage: (enough) => usageOfMarked(`${MARK}=${mark}`, enough),
      async killAll() {
        if (child.pid !== undefined) killNow(-child.pid);
        await killMarked(`${MARK}=${mark}`);
      },
    };
  });
  return { ...sandbox, close: () => sandbox.close().finally(() => foreign.close()) };
}

type Descriptor = IOType | 'ipc' | number;

/**
 * Whoever started us may have left descriptors open that every child inherits: a log, a socket of a CI agent. Node closes
 * its own in children, and low numbers; for the rest, each child gets the null device instead.
 */
class ForeignDescriptors {
  readonly #numbers: readonly number[];
  #nothing: number | null;

  constructor() {
    const limit = Math.min(HIGHEST, openFilesLimit());
    const numbers = inherited();
    this.#numbers = numbers.filter((number) => number < limit);
    // If no other can take its place, in a child either, we have to close it.
    for (const number of numbers) if (number >= limit) closeSync(number);
    this.#nothing = openSync('/dev/null', 'r');
  }

  /** `stdio` for a child that gets these descriptors, numbered from 0, and no others. */
  withNothingElse(own: readonly Descriptor[]): Descriptor[] {
    const all = [...own];
    for (const number of this.#numbers) {
      if (number < own.length) continue;
      while (all.length < number) all.push('ignore');
      all[number] = this.#nothing ?? 'ignore';
    }
    return all;
  }

  close(): void {
    if (this.#nothing !== null) closeSync(this.#nothing);
    this.#nothing = null;
  }
}

/** The list passed to a child extends to the highest number. */
const HIGHEST = 4096;

/** O_CLOEXEC, as shown by /proc. */
const CLOSED_IN_CHILDREN = 0o2000000;

/** Ascending numbers starting at 3. */
function inherited(): number[] {
  const numbers = readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((number) => number > 2);
  return numbers.filter(isInherited).sort((a, b) => a - b);
}

/** The current limit on a process's descriptors: ones with higher numbers were opened before it was lowered. */
function openFilesLimit(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readText('/proc/self/limits') ?? '')?.[1] ?? HIGHEST);
}

function isInherited(number: number): boolean {
  const flags = /^flags:\s+([0-7]+)$/m.exec(readText(`/proc/self/fdinfo/${number}`) ?? '')?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_IN_CHILDREN) === 0;
}
