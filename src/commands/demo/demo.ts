/** `patchsmith demo`: the main job on a small real project, with a recorded conversation instead of a model. */

import { Settings } from '../../config/schema.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import { type RunInput, runPatchsmith } from '../../engine/run.ts';
import { fixturePath, materialise, testFixture } from './materialise.ts';

/** Everything but the model is what `run` uses: loop, tools, sandbox, workspace, verification, proof and publisher. */
export async function runDemo(input: Omit<RunInput, 'settings' | 'apiKey'>): Promise<RunOutcome> {
  const repo = await materialise('price-list');
  input.stderr.write(`demo: a small project, in ${repo}\n`);
  const red = await testFixture(repo);
  input.stderr.write(`demo: its tests before the run: node --test → exit code ${red}\n\n`);
  const settings = Settings.parse({
    repo,
    plan: fixturePath('plans/fix-quantity.md'),
    provider: 'replay',
    recording: fixturePath('transcripts/fix-quantity.jsonl'),
    output: 'patch',
  });
  const outcome = await runPatchsmith({ ...input, settings, apiKey: null });
  input.stderr.write(`\n${NEXT}\n`);
  return outcome;
}

const NEXT =
  'That was a recorded conversation. With a key, after "npm link" here, type in a checkout of yours:\n' +
  '  ANTHROPIC_API_KEY=… patchsmith run -m "Fix the failing test" --verify "npm test"';
