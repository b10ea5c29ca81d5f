import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../files/repository.ts';

/** Ways in which a main thread does not react. */
const BLOCKED = {
  'an endless loop': 'for (;;);',
  'an endless expression': "/^(?:a+)+$/.test('a'.repeat(80) + 'b');",
  'an endless chain of promises': '(async () => { for (;;) await null; })();',
  'a call that does not return': 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);',
};
export type Blocked = keyof typeof BLOCKED;

/** With this environment, `block` blocks the main thread of the built command or of the action's main step. */
export function blockable(how: Blocked): { block: () => void; env: Record<string, string> } {
  const folder = temporaryFolder();
  const script = join(folder, 'block.cjs');
  const trigger = join(folder, 'now');
  writeFileSync(
    script,
    `const { existsSync } = require('node:fs');
     if (/\\/(?:cli|action)\\.js$/.test(process.argv[1]) && require('node:worker_threads').isMainThread) {
       const timer = setInterval(() => { if (!existsSync(${JSON.stringify(trigger)})) return; clearInterval(timer); ${BLOCKED[how]} }, 10);
       timer.unref();
     }`,
  );
  return { block: () => writeFileSync(trigger, ''), env: { NODE_OPTIONS: `--require ${script}` } };
}

/** A Node.js whose threads see no signals: the tests' own, or what NODE_24 names; undefined without one. */
export const SEES_NO_SIGNALS =
  Number(process.versions.node.split('.')[0]) >= 24 ? process.execPath : process.env.NODE_24;
