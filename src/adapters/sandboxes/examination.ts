/** Opens a sandbox as a run would, and tries every toolchain of the machine in it. Touches no repository. */

import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { EnforcedLimits } from '../../domain/command-limits.ts';
import type { SandboxLevel } from '../../domain/events.ts';
import { describeEnd, succeeded } from '../../domain/tool.ts';
import type { Sandbox } from '../../ports.ts';
import { orMissing, statOf } from './host-files.ts';
import { openSandbox } from './registry.ts';
import type { SandboxOptions, ShownPlace } from './sandbox-options.ts';
import { isWithin } from './toolchain-policy.ts';
import { searchPath, toolchainVariables } from './toolchains.ts';

/** How one tool of PATH does. `works`: in the sandbox; `broken`: not even outside of it; `fails`: only in the sandbox. */
export interface ToolReport {
  readonly name: string;
  /** Where PATH finds it outside. */
  readonly path: string;
  readonly status: 'works' | 'fails' | 'broken';
  /** The first line that it says of its version, or why it fails. */
  readonly said: string;
}

export type Examination =
  | {
      status: 'ok';
      level: SandboxLevel;
      shown: ShownPlace[];
      limits: EnforcedLimits;
      warnings: string[];
      tools: ToolReport[];
    }
  | { status: 'refused' | 'unavailable'; reason: string };

export interface Patient extends Pick<SandboxOptions, 'mode' | 'mounts' | 'limits' | 'hostEnv'> {
  /** The checkout; null to do with an empty folder. */
  readonly checkout: { readonly root: string; readonly objects: string } | null;
}

/** Rejects only for a broken machine. */
export async function examine({ checkout, ...options }: Patient): Promise<Examination> {
  const folder = await mkdtemp(join(tmpdir(), 'patchsmith-doctor-'));
  try {
    const empty = join(folder, 'empty');
    const gitDir = join(folder, 'agent.git');
    for (const path of [empty, gitDir]) await mkdir(path);
    const root = checkout?.root ?? empty;
    if (checkout === null) await mkdir(join(empty, '.git'));
    const dotGitIsFile = statOf(join(root, '.git'))?.isFile() ?? false;
    const agentGit = {
      gitDir,
      objects: checkout?.objects ?? join(gitDir, 'objects'),
      dotGitIsFile,
      nested: [],
    };
    const opened = await openSandbox({ ...options, root, agentGit, scratchDir: join(folder, 'scratch') });
    if (opened.status !== 'ok') return opened;
    const { sandbox, shown, warnings } = opened;
    const tools = await tryTools(sandbox, root, options.hostEnv).finally(() => sandbox.close());
    const places = shown.filter(({ path }) => !isWithin(path, folder));
    return { status: 'ok', level: sandbox.level, shown: places, limits: sandbox.limits, warnings, tools };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each with what makes it tell its version. */
const TOOLS: readonly (readonly [name: string, question: string])[] = [
  ...['node', 'npm', 'pnpm', 'yarn', 'bun', 'deno', 'python3', 'pip3', 'uv', 'poetry', 'ruby', 'bundle'],
  ...['cargo', 'rustc', 'mvn', 'gradle', 'dotnet', 'php', 'composer', 'gcc', 'make', 'cmake', 'git', 'perl'],
].map((name) => [name, '--version'] as const);
const OTHER_TOOLS = [
  ['go', 'version'],
  ['java', '-version'],
] as const;

const TOOL_MS = 30_000;

function tryTools(sandbox: Sandbox, root: string, env: Patient['hostEnv']): Promise<ToolReport[]> {
  const found = [...TOOLS, ...OTHER_TOOLS].flatMap(([name, question]) => {
    // What the repository brings with it is not to be run outside.
    const folder = searchPath(env).find((place) => !isWithin(place, root) && isProgram(join(place, name)));
    return folder === undefined ? [] : [{ name, question, path: join(folder, name) }];
  });
  return Promise.all(
    found.map(async ({ name, question, path }): Promise<ToolReport> => {
      const script = `${name} ${question}`;
      const { end, output } = await sandbox.run({
        script,
        timeoutMs: TOOL_MS,
        signal: new AbortController().signal,
      });
      const said = firstLine(output.head);
      if (succeeded(end)) return { name, path, status: 'works', said };
      const status = (await worksOutside(path, question, env)) ? 'fails' : 'broken';
      return { name, path, status, said: `${describeEnd(end)}${said === '' ? '' : `: ${said}`}` };
    }),
  );
}

/** In the root folder, so that no file of a project chooses a version or a plugin. */
function worksOutside(path: string, question: string, hostEnv: Patient['hostEnv']): Promise<boolean> {
  const { PATH, HOME } = hostEnv;
  const env = { ...toolchainVariables(hostEnv), PATH, HOME };
  return new Promise((resolve) => {
    execFile(path, [question], { cwd: '/', env, timeout: TOOL_MS }, (error) => resolve(error === null));
  });
}

function isProgram(path: string): boolean {
  return orMissing(() => accessSync(path, constants.X_OK)) !== null;
}

/** Some tools colour what they say, whoever listens. */
function firstLine(text: string): string {
  return (
    stripVTControlCharacters(text)
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line !== '') ?? ''
  );
}
