/** One command in the sandbox against the same command bare, in turn. `node fence.js ROOT ROUNDS` prints the times as JSON. */

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openSandbox } from '../src/adapters/sandboxes/open.ts';
import { findCheckout } from '../src/adapters/workspace/find-checkout.ts';
import { beginWorkspace } from '../src/adapters/workspace/open.ts';

export interface FenceTimes {
  readonly sandboxedMs: readonly number[];
  readonly bareMs: readonly number[];
}

const [root = '.', rounds = '5'] = process.argv.slice(2);
const found = await findCheckout(root, process.env);
if (found.status === 'failed') throw new Error(found.message);
const own = mkdtempSync(join(tmpdir(), 'patchsmith-bench-fence-'));
const begun = beginWorkspace(found.checkout, {
  shadowDir: join(own, 'shadow.git'),
  sandboxGitDir: join(own, 'agent.git'),
  env: process.env,
});
await begun.take();
const opened = await openSandbox({
  mode: 'required',
  root,
  sandboxGitDir: begun.sandboxGitDir,
  scratchDir: join(own, 'scratch'),
  hostEnv: process.env,
});
if (opened.status !== 'ok') throw new Error(opened.reason);
const { sandbox } = opened;
const bare = promisify(execFile);
const command = { script: 'true', timeoutMs: 10_000, signal: new AbortController().signal };
const times = { sandboxedMs: [] as number[], bareMs: [] as number[] };
for (let round = -1; round < Number(rounds); round += 1) {
  const bareMs = await timed(() => bare('bash', ['-c', command.script], { cwd: root }));
  const sandboxedMs = await timed(() => sandbox.run(command));
  // The first round warms the caches.
  if (round < 0) continue;
  times.bareMs.push(bareMs);
  times.sandboxedMs.push(sandboxedMs);
}
await sandbox.close();
rmSync(own, { recursive: true, force: true });
process.stdout.write(JSON.stringify(times satisfies FenceTimes));

async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
