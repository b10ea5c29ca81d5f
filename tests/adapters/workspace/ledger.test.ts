import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toCodeChanges } from '../../../src/domain/changes/change.ts';
import { ChangeLedger } from '../../../src/domain/changes/ledger.ts';
import { ScratchCheckout } from './scratch-checkout.ts';

const PATHS = ['a', 'b', 'a/b', 'a/c', 'b/c/d', 'e\udcff', 'f g'];

const step = fc.oneof(
  fc.record({
    do: fc.constant('write' as const),
    path: fc.constantFrom(...PATHS),
    text: fc.constantFrom('', 'x\n', 'y\n', 'long\n'.repeat(9)),
    executable: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('link' as const),
    path: fc.constantFrom(...PATHS),
    text: fc.constantFrom('a', 'x\n', 'nowhere'),
  }),
  fc.record({ do: fc.constant('remove' as const), path: fc.constantFrom(...PATHS) }),
  fc.record({
    do: fc.constant('move' as const),
    path: fc.constantFrom(...PATHS),
    to: fc.constantFrom(...PATHS),
  }),
  fc.record({ do: fc.constant('look' as const), everywhere: fc.boolean() }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function perform(scratch: ScratchCheckout, taken: Step): void {
  if (taken.do === 'look') return;
  const [top = ''] = taken.path.split('/');
  switch (taken.do) {
    case 'write':
      scratch.clearWay(taken.path);
      scratch.write(taken.path, taken.text, taken.executable ? 0o755 : 0o644);
      return;
    case 'link':
      scratch.clearWay(taken.path);
      scratch.link(taken.path, taken.text);
      return;
    case 'remove':
      scratch.remove(taken.path);
      return;
    case 'move':
      if (top !== taken.to.split('/')[0]) scratch.move(taken.path, taken.to);
  }
}

test('for any sequence of changes, captured step by step, the net of the ledger is the difference of the trees', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.array(step, { minLength: 1, maxLength: 14 }),
      fc.boolean(),
      fc.constantFrom(0, 2_000),
      async (before, steps, isTracked, manyFiles) => {
        const scratch = new ScratchCheckout();
        try {
          for (const taken of before) perform(scratch, taken);
          // Files and folders that are older than the last look need not be looked at again.
          const pause = () => (isTracked ? sleep(6) : undefined);
          await pause();
          if (isTracked) scratch.git('add', '--all');
          await pause();
          const workspace = await scratch.open(scratch.root, manyFiles);
          const ledger = new ChangeLedger();
          let touched: string[] = [];
          const look = async (scope: 'all' | string[]) => {
            const changes = await workspace.capture(scope);
            const source = { by: 'tool' as const, tool: 'write_file', calls: ['call'] };
            for (const change of toCodeChanges(changes, source, 1)) ledger.record(change);
          };
          for (const taken of steps) {
            perform(scratch, taken);
            if (taken.do === 'look') {
              await look(taken.everywhere ? 'all' : touched);
              touched = [];
              await pause();
            } else touched.push(taken.path, ...(taken.do === 'move' ? [taken.to] : []));
          }
          await look('all');
          const made = await workspace.makePatch(ledger.net());
          if (made.status === 'failed') throw new Error(made.message);
          const { patch } = made;
          // The same tree, had it been the start.
          expect((await scratch.open()).base().tree).toBe(patch.tree);
        } finally {
          scratch.close();
        }
      },
    ),
    { numRuns: 15 },
  );
});
