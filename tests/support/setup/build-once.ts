import { execFileSync } from 'node:child_process';

/** Builds the command line once before all tests, so that end-to-end tests run what users run. */
export default function buildOnce(): void {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
}
