/** `patchsmith demo`: the main job on a small real project, with a recorded conversation instead of a model. */

import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { simpleGit } from 'simple-git';
import { withoutKey } from '../../config/provider-keys.ts';
import { withDefaults } from '../../config/schema.ts';
import type { Environment } from '../../domain/environment.ts';
import { runPatchsmith } from '../../engine/run.ts';
import { hasCode } from '../../files/failures.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import type { Given } from '../command.ts';

/**
 * Starts `patchsmith demo`. Everything but the model is what `run` uses: loop, tools, sandbox, workspace, verification, proof and
 * publisher. With a model that first tries forbidden things, the tests are protected, and a sandbox is required.
 */
export async function startDemo(
  context: HostContext,
  { switches, problems }: Given,
): Promise<CommandOutcome> {
  if (problems.length > 0) return { status: 'refused', problems: [...problems] };
  const hostile = switches.has('hostile');
  const input = { ...context, env: withoutKey(context.env), startNotes: [] };
  const { repo, runDir } = emptyFolder(input.env);
  await materialise('price-list', repo);
  input.stderr.write(`demo: a small project, in ${repo}\n`);
  const red = await testFixture(repo);
  input.stderr.write(`demo: its tests before the run: node --test → exit code ${red}\n\n`);
  if (hostile)
    input.stderr.write(`demo: a key that you can read, and the model will ask for: ${planted(repo)}\n\n`);
  const settings = withDefaults({
    repo,
    plan: fixturePath('plans/fix-quantity.md'),
    provider: 'replay',
    recording: fixturePath(hostile ? 'transcripts/hostile.yml' : 'transcripts/fix-quantity.jsonl'),
    ...(hostile && { protect: ['test/**'], sandbox: 'required' }),
    output: 'patch',
    runDir,
  });
  const outcome = await runPatchsmith({ ...input, settings, apiKey: null });
  input.stderr.write(`\n${next(repo, runDir)}\n`);
  return { status: 'printed', outcome };
}

/** `runDir` is null where runs have their usual place. */
interface DemoPlace {
  readonly repo: string;
  readonly runDir: string | null;
}

/** The same folder for every demo, so that they do not pile up: each one replaces the project of the one before. */
function emptyFolder({ XDG_CACHE_HOME: named, HOME }: Environment): DemoPlace {
  const cache = [named, HOME && join(HOME, '.cache')].find((path) => path !== undefined && isAbsolute(path));
  try {
    if (cache) return { repo: madeEmpty(join(cache, 'patchsmith', 'demo')), runDir: null };
  } catch (error) {
    // A container's home is often read-only, or there is none.
    if (!hasCode(error, 'EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR')) throw error;
  }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'patchsmith-demo-')));
  return { repo: madeEmpty(join(folder, 'demo')), runDir: join(folder, 'run') };
}

function madeEmpty(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return realpathSync(folder);
}

/** The path of a key beside the project, where only the sandbox keeps a command from reading it. */
function planted(repo: string): string {
  const path = join(madeEmpty(`${repo}-key`), 'id_ed25519');
  writeFileSync(path, `${DEMO_KEY}\n`, { mode: 0o600 });
  return path;
}

const DEMO_KEY = 'not a real key: planted by patchsmith demo --hostile';

function next(repo: string, runDir: string | null): string {
  const run = runDir === null ? '' : ` ${runDir}`;
  return `That was a recorded conversation; everything else was real. With patchsmith on your PATH:
  cd ${JSON.stringify(repo)}
  patchsmith blame${run}     which call made which line
  patchsmith replay${run}    the same run again, without a model
  patchsmith undo${run}      the files as they were before
The next demo starts from a fresh project. With a key, in your own checkout:
  ANTHROPIC_API_KEY=… patchsmith run -m "Fix the failing test" --verify "npm test"`;
}

/** The package's `fixtures/`, also when this file has been bundled into `dist/`. */
function fixturePath(name: string): string {
  const here = fileURLToPath(import.meta.url);
  const root = here.includes('/dist/')
    ? new URL('../', import.meta.url)
    : new URL('../../../', import.meta.url);
  return join(fileURLToPath(root), 'fixtures', name);
}

/** Copies `fixtures/repos/<name>` into an empty folder and commits it, always to the same commit id. */
async function materialise(name: string, folder: string): Promise<void> {
  cpSync(fixturePath(`repos/${name}`), folder, { recursive: true });
  const git = simpleGit({
    baseDir: folder,
    timeout: { block: 30_000 },
    // These variables are the whole environment, and git is meant to see all of them.
    allowEnvironment: Object.keys(FIXED),
    unsafe: { allowUnsafeConfigPaths: true },
  }).env(FIXED);
  await git.init({ '--initial-branch': 'main' }).add('.').commit(`Start ${name}`);
}

/**
 * Runs the fixture's own tests with this Node and returns their exit code. The fixture is our own, so it is not contained.
 */
async function testFixture(folder: string): Promise<number> {
  const { exitCode } = await execa(process.execPath, ['--test'], {
    cwd: folder,
    env: FIXED,
    extendEnv: false,
    stdin: 'ignore',
    timeout: 60_000,
    reject: false,
  });
  return exitCode ?? 1;
}

const FIXED = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'patchsmith',
  GIT_AUTHOR_EMAIL: 'demo@patchsmith.invalid',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'patchsmith',
  GIT_COMMITTER_EMAIL: 'demo@patchsmith.invalid',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};
