import { execFileSync } from 'node:child_process';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { RUNNER } from '../runs/built-programs.ts';

/** Builds the command line before the first of the tests that start it, so that they run what users run. */
export default function buildOnce(): void {
  // Each project asks for it.
  if (env.TESTS_BUILT_BY === String(process.pid)) return;
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
  buildSync({
    entryPoints: [fileURLToPath(new URL('../runs/runner.ts', import.meta.url))],
    outfile: fileURLToPath(RUNNER),
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  env.TESTS_BUILT_BY = String(process.pid);
}
