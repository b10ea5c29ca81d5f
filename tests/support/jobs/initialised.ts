import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeRepository } from '../files/repository.ts';
import { runCli } from '../runs/cli.ts';

/** The path of the workflow that `patchsmith init` writes in a fresh repository. */
export async function initialised(template: string, ...flags: string[]): Promise<string> {
  const { root } = await makeRepository({});
  const { exitCode, stderr } = await runCli(['init', template, ...flags], { cwd: root });
  if (exitCode !== 0) throw new Error(stderr);
  const folder = join(root, '.github/workflows');
  const [workflow, ...others] = readdirSync(folder);
  if (workflow === undefined || others.length > 0) throw new Error(`It wrote ${[workflow, ...others]}`);
  return join(folder, workflow);
}
