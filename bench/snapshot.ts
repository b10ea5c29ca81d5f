/**
 * The snapshot after a command against a warm `git status` of the same tree, one after the other: a file changes, git
 * looks, the workspace looks. `node snapshot.js ROOT FILE ROUNDS` prints the times as JSON.
 */

import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCheckout } from '../src/adapters/workspace/find-checkout.ts';
import { openWorkspace } from '../src/adapters/workspace/open.ts';

export interface SnapshotTimes {
  readonly snapshotMs: readonly number[];
  readonly statusMs: readonly number[];
}

const [root = '.', file = '', rounds = '5'] = process.argv.slice(2);
const found = await findCheckout(root, process.env);
if (found.status === 'failed') throw new Error(found.message);
const own = mkdtempSync(join(tmpdir(), 'patchsmith-bench-snapshot-'));
const workspace = await openWorkspace(found.checkout, {
  shadowDir: join(own, 'shadow.git'),
  sandboxGitDir: join(own, 'agent.git'),
  env: process.env,
});
const times = { snapshotMs: [] as number[], statusMs: [] as number[] };
for (let round = -1; round < Number(rounds); round += 1) {
  appendFileSync(join(root, file), `// round ${round}\n`);
  const statusMs = await timed(() => execFileSync('git', ['status', '--porcelain'], { cwd: root }));
  const snapshotMs = await timed(() => workspace.capture('all'));
  // The first round warms the caches.
  if (round < 0) continue;
  times.statusMs.push(statusMs);
  times.snapshotMs.push(snapshotMs);
}
rmSync(own, { recursive: true, force: true });
process.stdout.write(JSON.stringify(times satisfies SnapshotTimes));

async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
