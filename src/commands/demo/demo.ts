/** `patchsmith demo`: the main job on a small real project, with a recorded conversation instead of a model. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { Settings } from '../../config/schema.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import { runPatchsmith } from '../../engine/run.ts';
import type { RunInput } from '../../engine/run-input.ts';
import { fixturePath, materialise, testFixture } from './materialise.ts';

/** A run of the demo: everything that the demo does not choose itself. */
export interface DemoInput extends Omit<RunInput, 'settings' | 'apiKey'> {
  /** With a model that first tries forbidden things. The tests are then protected, and a sandbox is required. */
  readonly hostile: boolean;
}

/** Everything but the model is what `run` uses: loop, tools, sandbox, workspace, verification, proof and publisher. */
export async function runDemo({ hostile, ...input }: DemoInput): Promise<RunOutcome> {
  const repo = emptyFolder(input.env);
  await materialise('price-list', repo);
  input.stderr.write(`demo: a small project, in ${repo}\n`);
  const red = await testFixture(repo);
  input.stderr.write(`demo: its tests before the run: node --test → exit code ${red}\n\n`);
  const settings = Settings.parse({
    repo,
    plan: fixturePath('plans/fix-quantity.md'),
    provider: 'replay',
    recording: fixturePath(hostile ? 'transcripts/hostile.yml' : 'transcripts/fix-quantity.jsonl'),
    ...(hostile && { protect: ['test/**'], sandbox: 'required' }),
    output: 'patch',
  });
  const outcome = await runPatchsmith({ ...input, settings, apiKey: null });
  input.stderr.write(`\n${next(repo)}\n`);
  return outcome;
}

/** The same folder for every demo, so that they do not pile up: each one replaces the project of the one before. */
function emptyFolder({ XDG_CACHE_HOME: named, HOME }: RunInput['env']): string {
  const cache = [named, HOME && join(HOME, '.cache')].find((path) => path !== undefined && isAbsolute(path));
  const folder = cache ? join(cache, 'patchsmith', 'demo') : mkdtempSync(join(tmpdir(), 'patchsmith-demo-'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return realpathSync(folder);
}

function next(repo: string): string {
  return `That was a recorded conversation; everything else was real. With patchsmith on your PATH:
  cd ${JSON.stringify(repo)}
  patchsmith blame     which call made which line
  patchsmith replay    the same run again, without a model
  patchsmith undo      the files as they were before
The next demo starts from a fresh project. With a key, in your own checkout:
  ANTHROPIC_API_KEY=… patchsmith run -m "Fix the failing test" --verify "npm test"`;
}
