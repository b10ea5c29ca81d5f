/**
 * Opens a sandbox as a run would, and tries every toolchain of the machine in one with an empty work tree. Touches no
 * repository, and runs nothing from it.
 */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { execa } from 'execa';
import { isWithin } from '../../domain/changes/path.ts';
import { describeEnd, succeeded } from '../../domain/conversation/tool.ts';
import type { Environment } from '../../domain/environment.ts';
import { KNOWN_PROGRAMS } from '../../domain/packages.ts';
import type { SandboxLevel } from '../../domain/run/events.ts';
import type { EnforcedLimits } from '../../domain/run/limits.ts';
import type { Warning } from '../../domain/warnings/warning.ts';
import type { Sandbox } from '../../ports.ts';
import { programIn } from './command/shell.ts';
import { leadsInto, statOf } from './host-files.ts';
import { openSandbox } from './open.ts';
import type { RefusedLevels, SandboxOptions, ShownPlace } from './options.ts';
import { searchPath, toolchainVariables } from './visible/toolchains.ts';

/** How one tool on PATH behaves. `works`: in the sandbox; `broken`: not even outside it; `fails`: only in the sandbox. */
export interface ToolReport {
  readonly name: string;
  /** Where PATH leads to outside. */
  readonly path: string;
  readonly status: 'works' | 'fails' | 'broken';
  /** The first line of its version output, or why it fails. */
  readonly said: string;
}

/** What the sandbox offers on this machine, or why there is none. */
export type Diagnosis =
  | {
      status: 'ok';
      level: SandboxLevel;
      shown: ShownPlace[];
      limits: EnforcedLimits;
      warnings: Warning[];
      tools: ToolReport[];
      refused: readonly RefusedLevels[];
    }
  | { status: 'refused' | 'unavailable'; reason: string; refused?: readonly RefusedLevels[] };

/** What to examine. */
export interface DiagnoseOptions
  extends Pick<SandboxOptions, 'mode' | 'mounts' | 'caches' | 'limits' | 'hostEnv'> {
  /** The checkout; null to use an empty folder. */
  readonly checkout: { readonly root: string; readonly objects: string } | null;
}

/** Rejects only for a broken machine. */
export async function diagnose({ checkout, ...options }: DiagnoseOptions): Promise<Diagnosis> {
  const folder = await mkdtemp(join(tmpdir(), 'patchsmith-doctor-'));
  try {
    const empty = join(folder, 'empty');
    const gitDir = join(folder, 'agent.git');
    for (const path of [empty, gitDir]) await mkdir(path);
    const root = checkout?.root ?? empty;
    await writeFile(join(empty, '.git'), `gitdir: ${gitDir}\n`);
    const dotGitIsFile = statOf(join(root, '.git'))?.isFile() ?? false;
    const sandboxGitDir = {
      gitDir,
      objects: checkout?.objects ?? join(gitDir, 'objects'),
      dotGitIsFile,
      nested: [],
    };
    const opened = await openSandbox({
      ...options,
      root,
      sandboxGitDir,
      scratchDir: join(folder, 'scratch'),
    });
    if (opened.status !== 'ok') return opened;
    const { sandbox, shown, warnings, refused = [] } = opened;
    await sandbox.close();
    const places = shown.filter(({ path }) => !isWithin(path, folder));
    const tools = await tryTools({ ...options, root, empty, folder });
    const { level, limits } = sandbox;
    return { status: 'ok', level, shown: places, limits, warnings, tools, refused };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Trial extends Pick<SandboxOptions, 'mode' | 'mounts' | 'limits' | 'hostEnv'> {
  /** The work tree, none of whose programs is run. */
  readonly root: string;
  /** A folder that is empty except for its `.git`, mounted instead of the work tree. */
  readonly empty: string;
  /** A private folder around it. */
  readonly folder: string;
}

/**
 * Many tools read files in their working directory before they print anything (`.mvn/jvm.config`, `.tool-versions`,
 * `.yarnrc.yml`, `package.json`), and some run what these name. So none of them starts in the repository.
 */
async function tryTools({ root, empty, folder, hostEnv, ...options }: Trial): Promise<ToolReport[]> {
  const gitDir = join(folder, 'empty.git');
  await mkdir(gitDir);
  const sandboxGitDir = { gitDir, objects: join(gitDir, 'objects'), dotGitIsFile: true, nested: [] };
  const scratchDir = join(folder, 'scratch');
  const path = searchPath(hostEnv).filter((place) => !leadsInto(root, place));
  const ours = Object.entries(hostEnv).filter(([, value = '']) => !leadsInto(root, value));
  const env = { ...Object.fromEntries(ours), PATH: path.join(':') };
  // Without a sandbox, others may have left files around the empty folder, which such tools also search for.
  const shown = options.mode === 'off' ? { root: '/' } : { root: empty, shownAs: root };
  const opened = await openSandbox({ ...options, ...shown, hostEnv: env, sandboxGitDir, scratchDir });
  if (opened.status !== 'ok') throw new Error(`The sandbox cannot be opened again: ${opened.reason}`);
  const { sandbox } = opened;
  const reports = KNOWN_PROGRAMS.flatMap((name) => {
    const program = programIn(path, name);
    return program === null || leadsInto(root, program) ? [] : [tryTool(name, program, sandbox, env)];
  });
  return Promise.all(reports).finally(() => sandbox.close());
}

/** What makes a program print its version, where that is not `--version`. */
const QUESTIONS: Readonly<Record<string, string>> = { go: 'version', java: '-version' };
const TOOL_MS = 30_000;

async function tryTool(
  name: string,
  path: string,
  sandbox: Sandbox,
  hostEnv: Environment,
): Promise<ToolReport> {
  const question = QUESTIONS[name] ?? '--version';
  const { end, output } = await sandbox.run({
    script: `${name} ${question}`,
    timeoutMs: TOOL_MS,
    signal: new AbortController().signal,
  });
  const said = firstLine(output.head);
  if (succeeded(end)) return { name, path, status: 'works', said };
  const { PATH, HOME } = hostEnv;
  // In the root folder, so that no file of a project selects a version or a plugin.
  const { failed } = await execa(path, [question], {
    cwd: '/',
    env: { ...toolchainVariables(hostEnv), PATH, HOME },
    extendEnv: false,
    stdio: 'ignore',
    timeout: TOOL_MS,
    reject: false,
  });
  const how = `${describeEnd(end)}${said === '' ? '' : `: ${said}`}`;
  return { name, path, status: failed ? 'broken' : 'fails', said: how };
}

/** Some tools always colour their output. */
function firstLine(text: string): string {
  return /\S.*/.exec(stripVTControlCharacters(text))?.[0].trimEnd() ?? '';
}
