/**
 * One command in the sandbox against the same command bare, one after the other: after a pause, in which its sandbox was set up, and
 * right behind that one. `node fence.js ROOT ROUNDS` prints the times as JSON.
 */

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openSandbox } from '../src/adapters/sandboxes/open.ts';
import { findCheckout } from '../src/adapters/workspace/find-checkout.ts';
import { beginWorkspace } from '../src/adapters/workspace/open.ts';

export interface FenceTimes {
  readonly sandboxedMs: readonly number[];
  /** Of commands for which no sandbox waits. */
  readonly unpreparedMs: readonly number[];
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
await begun.takeBaseline();
const opened = await openSandbox({
  mode: 'required',
  root,
  sandboxGitDir: begun.sandboxGitDir,
  scratchDir: join(own, 'scratch'),
  hostEnv: process.env,
  keepsSpare: true,
});
if (opened.status !== 'ok') throw new Error(opened.reason);
const { sandbox } = opened;
const bare = promisify(execFile);
const command = { script: 'true', timeoutMs: 10_000, signal: new AbortController().signal };
const times = { sandboxedMs: [] as number[], unpreparedMs: [] as number[], bareMs: [] as number[] };
/** Less than any model takes to answer. */
const THINKING_MS = 200;
for (let round = -1; round < Number(rounds); round += 1) {
  const bareMs = await timed(() => bare('bash', ['-c', command.script], { cwd: root }));
  await sleep(THINKING_MS);
  const sandboxedMs = await timed(() => sandbox.run(command));
  const unpreparedMs = await timed(() => sandbox.run(command));
  // The first round warms the caches.
  if (round < 0) continue;
  times.bareMs.push(bareMs);
  times.sandboxedMs.push(sandboxedMs);
  times.unpreparedMs.push(unpreparedMs);
}
await sandbox.close();
rmSync(own, { recursive: true, force: true });
process.stdout.write(JSON.stringify(times satisfies FenceTimes));

async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
