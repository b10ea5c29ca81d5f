/** `patchsmith demo`: the main job on a small real project, with a recorded conversation instead of a model. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { Settings } from '../../config/schema.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import { runPatchsmith } from '../../engine/run.ts';
import type { RunInput } from '../../engine/run-input.ts';
import { hasCode } from '../../files/failures.ts';
import { fixturePath, materialise, testFixture } from './materialise.ts';

/** A run of the demo: everything that the demo does not choose itself. */
export interface DemoInput extends Omit<RunInput, 'settings' | 'apiKey'> {
  /** With a model that first tries forbidden things. The tests are then protected, and a sandbox is required. */
  readonly hostile: boolean;
}

/** Everything but the model is what `run` uses: loop, tools, sandbox, workspace, verification, proof and publisher. */
export async function runDemo({ hostile, ...input }: DemoInput): Promise<RunOutcome> {
  const { repo, runDir } = emptyFolder(input.env);
  await materialise('price-list', repo);
  input.stderr.write(`demo: a small project, in ${repo}\n`);
  const red = await testFixture(repo);
  input.stderr.write(`demo: its tests before the run: node --test → exit code ${red}\n\n`);
  if (hostile)
    input.stderr.write(`demo: a key that you can read, and the model will ask for: ${planted(repo)}\n\n`);
  const settings = Settings.parse({
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
  return outcome;
}

/** `runDir` is null where runs have their usual place. */
interface DemoPlace {
  readonly repo: string;
  readonly runDir: string | null;
}

/** The same folder for every demo, so that they do not pile up: each one replaces the project of the one before. */
function emptyFolder({ XDG_CACHE_HOME: named, HOME }: RunInput['env']): DemoPlace {
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
